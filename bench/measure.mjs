// Measures the variants of a workload in turns. Each variant has its own process; all call the same sequencer.
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';

/** Requests before the first measurement, or as many as possible in `warmMs`: the engine compiles the code. */
const warmUpRequests = 5_000;
const warmUpWindowMs = 500;
/**
 * The longest unmeasured load before each window. While a process is idle, the engine releases memory. Afterwards it collects
 * garbage often until the heap has grown again, which doubles the time of an ordinary Express app.
 */
const leadInMs = 200;

/** The options of all servers. The account and the seed are examples. */
export const site = {
  domain: 'example.com',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  verifierSeed: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
};

/** @returns the samples of each variant, one for each round. The variants of a round are measured one after the other. */
export async function measureWorkload(workload, { rounds, ms, connections, warmMs }) {
  const upstream = new Upstream();
  const load = startChild('./load.mjs');
  const runners = [];
  try {
    for (const [name, variant] of Object.entries(workload.variants)) {
      runners.push(await startVariant(name, variant, workload, { upstream, load, connections }));
    }
    for (const runner of runners) await warm(runner, warmMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const runner of runners) runner.samples.push(await runWindow(runner, ms));
    }
    return Object.fromEntries(runners.map(({ name, samples }) => [name, samples]));
  } finally {
    for (const { stop } of [load, ...runners.map(({ server }) => server)]) stop();
    await upstream.stop();
  }
}

/** The sequencer and the database of the servers. */
class Upstream {
  #stub = startChild('./stub.mjs');
  #postgres;

  calls() {
    return this.#stub.call('calls');
  }

  /** The URLs that a variant requires. */
  async addresses({ ledger }) {
    const { url } = await this.#stub.call('addresses');
    if (ledger) this.#postgres ??= await startPostgres();
    return { url, ...(ledger && { databaseUrl: await this.#postgres.newDatabase() }) };
  }

  async stop() {
    this.#stub.stop();
    await this.#postgres?.stop();
  }
}

async function startVariant(name, variant, { request }, { upstream, load, connections }) {
  const { request: own, ledger, ...options } = variant;
  const server = startChild('./server.mjs');
  const port = await server.call('start', { ...site, ...options, ...(await upstream.addresses({ ledger })) });
  const window = { ports: [port], connections, request: { ...request, ...own } };
  return { name, server, upstream, load, window, samples: [] };
}

async function warm(runner, ms) {
  const endMs = performance.now() + ms;
  for (let requests = 0; requests < warmUpRequests && performance.now() < endMs; ) {
    requests += (await runWindow(runner, warmUpWindowMs)).requests;
  }
}

async function runWindow({ name, server, upstream, load, window }, ms) {
  await load.call('open', window);
  await load.call('repeat', { ms: Math.min(ms, leadInMs) });
  const [before, callsBefore] = [await server.call('used'), await upstream.calls()];
  const { requests, wrong, tookMs, p50Ms, p99Ms } = await load.call('repeat', { ms });
  const [after, callsAfter] = [await server.call('used'), await upstream.calls()];
  await load.call('close');
  if (wrong > 0) throw new Error(`${name}: ${wrong} of ${requests} responses were wrong.`);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests,
    cpuUs: cpuUs / requests,
    perSecond: (requests / tookMs) * 1000,
    p50Ms,
    p99Ms,
    rssMiB: after.rss / 2 ** 20,
    /** Share of one core. If it is low, the load generator or another program was the bottleneck. */
    busy: cpuUs / 1000 / tookMs,
    upstreamCalls: (callsAfter - callsBefore) / requests,
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** The median over the rounds. */
export function medianOf(samples, key = 'cpuUs') {
  return median(samples.map((sample) => sample[key]));
}

/** The median ratio of two variants over the rounds; undefined if one was not measured. */
export function ratioOf(samples, others, key = 'cpuUs') {
  return samples && others && median(samples.map((sample, round) => sample[key] / others[round][key]));
}
