// Measures the variants of one work: each a process of its own, all against one sequencer, in turns.
import { startChild } from './child.mjs';
import { logIn } from './log-in.mjs';
import { startPostgres } from './postgres.mjs';

/** So many requests come before the windows that count, until the code is compiled, or as many as there are in `warmMs`. */
const warmUpRequests = 5_000;
const warmUpWindowMs = 500;
/**
 * What comes before each window and does not count, at most. While the others had their turns the engine has given memory
 * back, and collects garbage again and again until it has it once more: in an ordinary Express app twice the time.
 */
const leadInMs = 200;

/** The options of all servers. Nobody owns the account and the seed. */
export const site = {
  domain: 'example.com',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  verifierSeed: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
};

/** @returns the samples of each variant: one a round, those of one round taken side by side */
export async function measureWork(work, { rounds, ms, connections, warmMs }) {
  const upstream = new Upstream();
  const load = startChild('./load.mjs');
  const runners = [];
  try {
    for (const [name, variant] of Object.entries(work.variants)) {
      runners.push(await startVariant(name, variant, work, { upstream, load, connections }));
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

/** What the servers talk to. */
class Upstream {
  #stub = startChild('./stub.mjs');
  #postgres;

  calls() {
    return this.#stub.ask('calls');
  }

  /** Where a server finds what its variant needs. */
  async addresses({ grpc, ledger }) {
    const { url, grpcUrl } = await this.#stub.ask('addresses');
    if (ledger) this.#postgres ??= await startPostgres();
    return { url, ...(grpc && { grpcUrl }), ...(ledger && { databaseUrl: await this.#postgres.newDatabase() }) };
  }

  async stop() {
    this.#stub.stop();
    await this.#postgres?.stop();
  }
}

async function startVariant(name, variant, { request, loggedIn }, { upstream, load, connections }) {
  const { request: own, grpc, ledger, ...options } = variant;
  const server = startChild('./server.mjs');
  const port = await server.ask('start', { ...site, ...options, ...(await upstream.addresses({ grpc, ledger })) });
  const headers = loggedIn ? { Cookie: await logIn(port) } : {};
  const window = { port, connections, request: { ...request, ...own, headers } };
  return { name, server, upstream, load, window, samples: [] };
}

async function warm(runner, ms) {
  const endMs = performance.now() + ms;
  for (let answered = 0; answered < warmUpRequests && performance.now() < endMs; ) {
    answered += (await runWindow(runner, warmUpWindowMs)).requests;
  }
}

async function runWindow({ name, server, upstream, load, window }, ms) {
  await load.ask('open', window);
  await load.ask('run', { ms: Math.min(ms, leadInMs) });
  const [before, callsBefore] = [await server.ask('used'), await upstream.calls()];
  const { requests, wrong, tookMs, p50Ms, p99Ms } = await load.ask('run', { ms });
  const [after, callsAfter] = [await server.ask('used'), await upstream.calls()];
  await load.ask('close');
  if (wrong > 0) throw new Error(`${name}: ${wrong} of ${requests} answers were wrong.`);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests,
    cpuUs: cpuUs / requests,
    perSecond: (requests / tookMs) * 1000,
    p50Ms,
    p99Ms,
    rssMiB: after.rss / 2 ** 20,
    /** Of one core. If the server is not the busy process, the load or another program is measured. */
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

/** The median of what two variants come to side by side; undefined where one was not measured. */
export function ratioOf(samples, others, key = 'cpuUs') {
  return samples && others && median(samples.map((sample, round) => sample[key] / others[round][key]));
}
