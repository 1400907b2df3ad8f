// How soon event streams reconnect after their process is killed and restarted.
//   npm run bench:soak -- --reconnect 2000 [--rounds 5] [--down-ms 1000]
// Requires a build. Clients behave like an EventSource: they reconnect after the last `retry` they received, whether the
// connection was closed or refused. Each has its own intent. See stream-server.mjs for the stubs in the server.
import { setTimeout } from 'node:timers/promises';
import { startChild } from './process.mjs';

const print = (line) => process.stdout.write(`${line}\n`);
const atShare = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;

/** Polls until all streams are connected, for at most a minute. @returns the times, in ascending order */
async function untilConnected(clients, count) {
  for (let tries = 0; tries < 600; tries += 1) {
    const connectedAtMs = await clients.call('connectedAtMs');
    if (connectedAtMs.length === count) return connectedAtMs.toSorted((one, other) => one - other);
    await setTimeout(100);
  }
  throw new Error(`Not all of the ${count} streams reconnected within a minute.`);
}

/** Measures `rounds` restarts of a server with `count` streams, and prints when the streams were connected after each. */
export async function measureReconnect({ count, rounds, downMs }) {
  const clients = startChild('./stream-clients.mjs');
  let server = startChild('./stream-server.mjs', ['--expose-gc']);
  try {
    const port = await server.call('start', {});
    await clients.call('openReconnecting', { port, count });
    await untilConnected(clients, count);
    for (let round = 0; round < rounds; round += 1) {
      await clients.call('begin');
      const killedAtMs = Date.now();
      server.kill();
      await setTimeout(downMs);
      server = startChild('./stream-server.mjs', ['--expose-gc']);
      await server.call('start', { port });
      const listensAtMs = Date.now();
      const connectedAtMs = await untilConnected(clients, count);
      const cpuMs = await server.call('cpuMs');
      const after = (share) => seconds(atShare(connectedAtMs, share) - killedAtMs);
      print(
        `${count} streams, process down for ${seconds(listensAtMs - killedAtMs)}: 50% connected after ${after(0.5)}, ` +
          `99% after ${after(0.99)}, all after ${after(1)}; ` +
          `the server used ${seconds(cpuMs)} of CPU, including its start`,
      );
    }
  } finally {
    server.stop();
    clients.stop();
  }
}
