// How much a stream of events costs: many clients listen to one server process, all are told, all leave.
//   node bench/sse.mjs [--clients 5000] [--max-bytes 18432]     (0: the memory of a connection is shown, and not judged)
// Needs a build. Ends with 1 when a client misses the event, when something is left of those who have gone, or when a
// connection costs the server as much memory as --max-bytes or more.
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from './child.mjs';

const { values } = parseArgs({
  options: { clients: { type: 'string', default: '5000' }, 'max-bytes': { type: 'string', default: '18432' } },
});
const clients = Number(values.clients);
/** Clients in one process. */
const perProcess = 2_500;
/** Before the measurement few clients come and go many times, so that the code is compiled. */
const warmUp = { rounds: 30, clients: 100 };
/**
 * The engine takes up to 48 MiB for young objects and gives them back as it likes, however many connections there are. It
 * gets little of it here, so that this is not taken for the cost of a connection. It makes opening dearer, not cheaper.
 */
const serverOptions = ['--expose-gc', '--max-semi-space-size=2'];
const faults = [];

const print = (line) => process.stdout.write(`${line}\n`);
const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
const mib = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const check = (holds, fault) => holds || faults.push(fault);

/** Asks until it holds, or ten seconds are over; gives the last answer. */
async function until(ask, holds) {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask();
    if (holds(answer) || tries === 40) return answer;
    await setTimeout(250);
  }
}

async function countsOf(crowd) {
  const all = await Promise.all(crowd.map(({ ask }) => ask('counts')));
  const sum = (name) => all.reduce((total, each) => total + each[name], 0);
  return { told: sum('told'), lost: sum('lost'), lastAtMs: Math.max(...all.map(({ lastAtMs }) => lastAtMs)) };
}

async function everyoneLeaves(crowd, server) {
  await Promise.all(crowd.map(({ ask }) => ask('leave')));
  const isEmpty = ({ seats, feeds, watches, sockets }) => seats + feeds + watches + sockets === 0;
  return until(() => server.ask('state'), isEmpty);
}

async function measure(title, intentsOf, maxBytes) {
  const server = startChild('./sse-server.mjs', serverOptions);
  const crowd = Array.from({ length: Math.ceil(clients / perProcess) }, () => startChild('./sse-clients.mjs'));
  try {
    const port = await server.ask('port');
    for (let round = 0; round < warmUp.rounds; round += 1) {
      await crowd[0].ask('open', { port, count: warmUp.clients, intents: warmUp.clients });
      if (round < warmUp.rounds - 1) await crowd[0].ask('leave');
    }
    await server.ask('finish');
    const before = await everyoneLeaves(crowd, server);

    const cpuBeforeMs = await server.ask('cpuMs');
    const openedAtMs = performance.now();
    await Promise.all(
      crowd.map(({ ask }, index) => {
        const count = Math.min(perProcess, clients - index * perProcess);
        return ask('open', { port, count, intents: intentsOf(count) });
      }),
    );
    const openMs = performance.now() - openedAtMs;
    const openCpuMs = (await server.ask('cpuMs')) - cpuBeforeMs;
    const idle = await server.ask('state');
    const perConnection = (idle.rss - before.rss) / clients;

    const toldAtMs = Date.now();
    await server.ask('tell');
    const counts = await until(
      () => countsOf(crowd),
      ({ told }) => told === clients,
    );
    const told = await server.ask('state');
    const after = await everyoneLeaves(crowd, server);

    print(`${title}: ${clients} clients`);
    print(`  open        ${openMs.toFixed(0)} ms, ${((openCpuMs * 1000) / clients).toFixed(0)} us CPU each`);
    print(`  idle        ${kib(perConnection)} RSS each, of it ${kib((idle.held - before.held) / clients)} JavaScript`);
    print(`  one event   ${counts.told} told in ${counts.lastAtMs - toldAtMs} ms, ${counts.lost} lost`);
    print(
      `  all gone    ${after.sockets} sockets, ${after.feeds} feeds, ${after.watches} watches, ${after.seats} seats`,
    );
    print(`  memory      RSS ${mib(before.rss)} -> ${mib(told.rss)} -> ${mib(after.rss)}`);
    print(`              JavaScript ${mib(before.held)} -> ${mib(told.held)} -> ${mib(after.held)}`);

    check(idle.seats === clients + 1, `${title}: ${idle.seats - 1} of ${clients} were connected.`);
    check(counts.told === clients && counts.lost === 0, `${title}: ${clients - counts.told} clients missed the event.`);
    check(after.sockets + after.feeds + after.watches + after.seats === 0, `${title}: something is left.`);
    // What the engine keeps for itself is not per connection; a leak of 1 KiB each would be.
    check(
      after.held - before.held < 2 ** 20 + clients * 512,
      `${title}: JavaScript keeps ${mib(after.held - before.held)}.`,
    );
    check(
      maxBytes === 0 || perConnection < maxBytes,
      `${title}: ${kib(perConnection)} each is ${kib(maxBytes)} or more.`,
    );
  } finally {
    for (const child of [server, ...crowd]) child.stop();
  }
}

await measure('Many at one intent', () => 1, Number(values['max-bytes']));
// Here each connection has a watch besides, and of that the stand-in is a good part: shown, and not judged.
await measure('Each at its own intent', (count) => count, 0);
for (const fault of faults) print(`FAILED: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
