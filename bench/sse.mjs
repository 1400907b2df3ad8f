// The cost of an event stream: many clients connect to one server process, receive an event and disconnect. For `run.mjs` and
// `capacity.mjs`.
import { setTimeout } from 'node:timers/promises';
import { startChild } from './child.mjs';

/** Clients in one process. */
const perProcess = 2_500;
/** Before the measurement few clients come and go many times, so that the code is compiled. */
const warmUp = { rounds: 30, clients: 100 };
/**
 * The engine takes up to 48 MiB for young objects and gives them back as it likes, however many connections there are. It
 * gets little of it here, so that this is not taken for the cost of a connection. It makes opening dearer, not cheaper.
 */
const serverOptions = ['--expose-gc', '--max-semi-space-size=2'];

/** The ways to have as many clients; of the limit there is only one that matters. */
export const crowds = {
  'many at one intent': { intentsOf: () => 1 },
  // Here each connection has a watch besides, and of that the stand-in is a good part.
  'each at its own intent': { intentsOf: (count) => count },
  limit: { intentsOf: () => 1, isLimit: true },
};

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
  return { delivered: sum('delivered'), lost: sum('lost'), lastAtMs: Math.max(...all.map(({ lastAtMs }) => lastAtMs)) };
}

/** What the engine keeps for itself is not per connection; a leak of 1 KiB each would be. */
const mayKeep = (clients) => 2 ** 20 + clients * 512;

/** @param maxHeld what may be left of JavaScript; on a busy machine the engine takes its time */
async function everyoneLeaves(crowd, server, maxHeld = Number.POSITIVE_INFINITY) {
  await Promise.all(crowd.map(({ ask }) => ask('leave')));
  const isEmpty = ({ seats, feeds, watches, sockets, held }) =>
    seats + feeds + watches + sockets === 0 && held < maxHeld;
  return until(() => server.ask('state'), isEmpty);
}

async function openAll(crowd, port, clients, intentsOf) {
  const openings = crowd.map(({ ask }, index) => {
    const count = Math.min(perProcess, clients - index * perProcess);
    return ask('open', { port, count, intents: intentsOf(count) });
  });
  await Promise.all(openings);
}

/** @returns what was measured, and the states of the server before, while and after so many clients were there */
export async function measureStreams({ intentsOf, isLimit = false }, clients) {
  const server = startChild('./sse-server.mjs', serverOptions);
  const crowd = Array.from({ length: Math.ceil(clients / perProcess) }, () => startChild('./sse-clients.mjs'));
  try {
    const port = await server.ask('start', { isLimit });
    for (let round = 0; round < warmUp.rounds; round += 1) {
      await crowd[0].ask('open', { port, count: warmUp.clients, intents: warmUp.clients });
      if (round < warmUp.rounds - 1) await crowd[0].ask('leave');
    }
    await server.ask('finish');
    const before = await everyoneLeaves(crowd, server);

    const cpuBeforeMs = await server.ask('cpuMs');
    const openedAtMs = performance.now();
    await openAll(crowd, port, clients, intentsOf);
    const openMs = performance.now() - openedAtMs;
    const openCpuUs = (((await server.ask('cpuMs')) - cpuBeforeMs) * 1000) / clients;
    const idle = await server.ask('state');

    const [sentAtMs, cpuIdleMs] = [Date.now(), await server.ask('cpuMs')];
    await server.ask('send');
    const counts = await until(
      () => countsOf(crowd),
      ({ delivered }) => delivered === clients,
    );
    const eventCpuUs = (((await server.ask('cpuMs')) - cpuIdleMs) * 1000) / clients;
    const delivering = await server.ask('state');
    const after = await everyoneLeaves(crowd, server, before.held + mayKeep(clients));
    const bytesEach = (idle.rss - before.rss) / clients;
    const heldEach = (idle.held - before.held) / clients;
    const eventMs = counts.lastAtMs - sentAtMs;
    return { openMs, openCpuUs, bytesEach, heldEach, eventMs, eventCpuUs, ...counts, before, idle, delivering, after };
  } finally {
    for (const child of [server, ...crowd]) child.stop();
  }
}

/** What is wrong: a client that was not connected or missed the event, or something that is left of those who have gone. */
export function* streamFaults({ isLimit = false }, clients, { before, idle, after, delivered, lost }) {
  if (delivered !== clients || lost !== 0) yield `${clients - delivered} clients missed the event.`;
  if (isLimit) return;
  // One more than there are clients: the visitor, which has the seats of them all.
  if (idle.seats !== clients + 1) yield `${idle.seats - 1} of ${clients} were connected.`;
  if (after.sockets + after.feeds + after.watches + after.seats !== 0) yield 'something is left.';
  const kept = after.held - before.held;
  if (kept >= mayKeep(clients)) yield `JavaScript keeps ${(kept / 2 ** 20).toFixed(1)} MiB.`;
}
