// The cost of an event stream: many clients connect to one server process, receive an event and disconnect. Used by run.mjs and
// capacity.mjs.
import { setTimeout } from 'node:timers/promises';
import { startChild } from './process.mjs';

/** Clients in one process. */
const perProcess = 2_500;
/** Before the measurement, few clients connect and disconnect often: the engine compiles the code. */
const warmUp = { rounds: 30, clients: 100 };
/**
 * The engine reserves up to 48 MiB for young objects, independent of the number of connections. A small limit excludes this from the
 * cost of a connection. It makes opening more expensive, not cheaper.
 */
const serverOptions = ['--expose-gc', '--max-semi-space-size=2'];

/** The measured distributions of clients over intents. */
export const streamVariants = {
  'many at one intent': { intentsOf: () => 1 },
  // Each connection also has a watch. The stub is a large part of its cost.
  'each at its own intent': { intentsOf: (count) => count },
  limit: { intentsOf: () => 1, isLimit: true },
};

/** Polls until the condition holds, for at most ten seconds. @returns the last result */
async function until(poll, holds) {
  for (let tries = 0; ; tries += 1) {
    const result = await poll();
    if (holds(result) || tries === 40) return result;
    await setTimeout(250);
  }
}

async function countsOf(clientProcesses) {
  const all = await Promise.all(clientProcesses.map(({ call }) => call('counts')));
  const sum = (name) => all.reduce((total, each) => total + each[name], 0);
  return { delivered: sum('delivered'), lost: sum('lost'), lastAtMs: Math.max(...all.map(({ lastAtMs }) => lastAtMs)) };
}

/** The allowed growth of the heap in bytes. A leak of 1 KiB for each client exceeds it. */
const maxGrowth = (clients) => 2 ** 20 + clients * 512;

/** Closes all streams. @returns the state of the server when it is empty and its heap is below `maxHeld` bytes */
async function closeAll(clientProcesses, server, maxHeld = Number.POSITIVE_INFINITY) {
  await Promise.all(clientProcesses.map(({ call }) => call('close')));
  const isEmpty = ({ connections, feeds, watches, sockets, held }) =>
    connections + feeds + watches + sockets === 0 && held < maxHeld;
  return until(() => server.call('state'), isEmpty);
}

async function openAll(clientProcesses, port, clients, intentsOf) {
  const openings = clientProcesses.map(({ call }, index) => {
    const count = Math.min(perProcess, clients - index * perProcess);
    return call('open', { port, count, intents: intentsOf(count) });
  });
  await Promise.all(openings);
}

/** @returns the measurements, and the states of the server before, during and after the clients are connected */
export async function measureStreams({ intentsOf, isLimit = false }, clients) {
  const server = startChild('./stream-server.mjs', serverOptions);
  const clientProcesses = Array.from({ length: Math.ceil(clients / perProcess) }, () =>
    startChild('./stream-clients.mjs'),
  );
  try {
    const port = await server.call('start', { isLimit });
    for (let round = 0; round < warmUp.rounds; round += 1) {
      await clientProcesses[0].call('open', { port, count: warmUp.clients, intents: warmUp.clients });
      if (round < warmUp.rounds - 1) await clientProcesses[0].call('close');
    }
    await server.call('finish');
    const before = await closeAll(clientProcesses, server);

    const cpuBeforeMs = await server.call('cpuMs');
    const openedAtMs = performance.now();
    await openAll(clientProcesses, port, clients, intentsOf);
    const openMs = performance.now() - openedAtMs;
    const openCpuUs = (((await server.call('cpuMs')) - cpuBeforeMs) * 1000) / clients;
    const idle = await server.call('state');

    const [sentAtMs, cpuIdleMs] = [Date.now(), await server.call('cpuMs')];
    await server.call('send');
    const counts = await until(
      () => countsOf(clientProcesses),
      ({ delivered }) => delivered === clients,
    );
    const eventCpuUs = (((await server.call('cpuMs')) - cpuIdleMs) * 1000) / clients;
    const delivering = await server.call('state');
    const after = await closeAll(clientProcesses, server, before.held + maxGrowth(clients));
    const bytesEach = (idle.rss - before.rss) / clients;
    const heldEach = (idle.held - before.held) / clients;
    const eventMs = counts.lastAtMs - sentAtMs;
    return { openMs, openCpuUs, bytesEach, heldEach, eventMs, eventCpuUs, ...counts, before, idle, delivering, after };
  } finally {
    for (const child of [server, ...clientProcesses]) child.stop();
  }
}

/** Errors: a client did not connect or missed the event, or the server did not release its resources. */
export function* streamFaults({ isLimit = false }, clients, { before, idle, after, delivered, lost }) {
  if (delivered !== clients || lost !== 0) yield `${clients - delivered} clients missed the event.`;
  if (isLimit) return;
  // The limiter also counts the browser that owns all connections.
  if (idle.connections !== clients + 1) yield `${idle.connections - 1} of ${clients} clients were connected.`;
  if (after.sockets + after.feeds + after.watches + after.connections !== 0)
    yield 'the server did not release all streams.';
  const growth = after.held - before.held;
  if (growth >= maxGrowth(clients)) yield `the heap grew by ${(growth / 2 ** 20).toFixed(1)} MiB.`;
}
