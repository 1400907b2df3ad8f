// How soon event streams are back after the process that has them is killed and started again.
//   npm run bench:soak -- --reconnect 2000 [--rounds 5] [--down-ms 1000]
// Needs a build. Clients behave as an EventSource does: they reconnect after the last `retry` they received, whether the
// connection was cut or refused. Each listens to its own intent. Service and watches are stand-ins in the server process.
import { setTimeout } from 'node:timers/promises';
import { startChild } from './child.mjs';

const print = (line) => process.stdout.write(`${line}\n`);
const atShare = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;

/** Asks until all clients are greeted, for a minute at most. */
async function untilBack(clients, count) {
  for (let tries = 0; tries < 600; tries += 1) {
    const backAtMs = await clients.ask('backAtMs');
    if (backAtMs.length === count) return backAtMs.toSorted((one, other) => one - other);
    await setTimeout(100);
  }
  throw new Error(`Not all of the ${count} streams came back within a minute.`);
}

/** Measures `rounds` restarts of a server with `count` streams, and prints when the streams were back after each. */
export async function measureReconnect({ count, rounds, downMs }) {
  const clients = startChild('./reconnect-clients.mjs');
  let server = startChild('./sse-server.mjs', ['--expose-gc']);
  try {
    const port = await server.ask('start', {});
    await clients.ask('open', { port, count });
    await untilBack(clients, count);
    for (let round = 0; round < rounds; round += 1) {
      await clients.ask('begin');
      const cutAtMs = Date.now();
      server.kill();
      await setTimeout(downMs);
      server = startChild('./sse-server.mjs', ['--expose-gc']);
      await server.ask('start', { port });
      const listensAtMs = Date.now();
      const backAtMs = await untilBack(clients, count);
      const cpuMs = await server.ask('cpuMs');
      const after = (share) => seconds(atShare(backAtMs, share) - cutAtMs);
      print(
        `${count} streams, process down for ${seconds(listensAtMs - cutAtMs)}: half back after ${after(0.5)}, ` +
          `99% after ${after(0.99)}, the last after ${after(1)}; ` +
          `the server used ${seconds(cpuMs)} of CPU, its start included`,
      );
    }
  } finally {
    server.stop();
    clients.stop();
  }
}
