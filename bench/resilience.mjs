// What the resilience around a call costs: the same calls through the wrapper and without it, in turns, in one process,
// against a stub in another. Needs a build. Prints medians in microseconds of CPU per call; only the ratios travel.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHttpTransport } from '../build/sequencer/http-transport.js';
import { resilientTransport } from '../build/sequencer/resilient-transport.js';
import { encodeOkResponse, operations } from '../build/wire/envelope.js';

const [rounds, callsPerRound, inFlight] = [15, 6_000, 32];

if (process.argv[2] === 'stub') {
  const { createServer } = await import('node:http');
  const answer = encodeOkResponse(Buffer.from('080110011801', 'hex'));
  const server = createServer((req, res) => {
    req.resume().on('end', () => res.writeHead(200, { 'content-length': answer.length }).end(answer));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
} else {
  await measure();
}

async function measure() {
  const stub = spawn(process.execPath, [process.argv[1], 'stub'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [port] = await once(stub, 'message');
  const bare = createHttpTransport({ url: `http://127.0.0.1:${port}`, timeoutMs: 8_000 });
  const nothing = { call: async (_operation, body) => body, close: async () => undefined };
  const options = { timeoutMs: 8_000, tryTimeoutMs: 3_000 };
  const ways = {
    'over HTTP': [bare, resilientTransport(bare, options)],
    'over nothing': [nothing, resilientTransport(nothing, options)],
  };
  for (const [way, transports] of Object.entries(ways)) {
    const costs = [[], []];
    for (let round = 0; round <= rounds; round++) {
      for (const [index, transport] of transports.entries()) {
        const cost = await costOf(transport);
        if (round > 0) costs[index].push(cost);
      }
    }
    const [without, withIt] = costs.map(median);
    const times = (withIt / without).toFixed(2);
    console.log(`${way}: bare ${without.toFixed(1)} us, resilient ${withIt.toFixed(1)} us, ${times} times as much`);
  }
  await bare.close();
  stub.kill();
}

async function costOf(transport) {
  const body = Buffer.alloc(36, 7);
  let left = callsPerRound;
  const begun = process.cpuUsage();
  const loop = async () => {
    while (left-- > 0) await transport.call(operations.getStatus, body);
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / callsPerRound;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
