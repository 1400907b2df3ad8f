// Measures the variants of one work: each a process of its own, all against one sequencer, in turns.
import { startChild } from './child.mjs';
import { logIn } from './log-in.mjs';
import { startPostgres } from './postgres.mjs';

/** What comes before the windows that count, until the code is compiled: so many requests, or so long. */
const warmUp = { requests: 5_000, ms: 10_000, windowMs: 500 };

/** What all servers are told. Account and seed are nobody's. */
const site = {
  domain: 'example.com',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  verifierSeed: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
};

/** @returns by variant: medians over the rounds, and the ratios of windows side by side */
export async function measureWork({ request, loggedIn = false, variants }, { rounds, ms, connections }) {
  const [stub, load] = [startChild('./stub.mjs'), startChild('./load.mjs')];
  const runners = [];
  let postgres;
  try {
    const addresses = await stub.ask('addresses');
    for (const [name, { request: own, grpc = false, ledger = false, execArgv, ...options }] of Object.entries(
      variants,
    )) {
      const server = startChild('./server.mjs', execArgv);
      const { url, grpcUrl } = addresses;
      if (ledger) postgres ??= await startPostgres();
      const way = { url, ...(grpc && { grpcUrl }), ...(ledger && { databaseUrl: await postgres.newDatabase() }) };
      const port = await server.ask('start', { ...site, ...options, ...way });
      const headers = loggedIn ? { Cookie: await logIn(port) } : {};
      const window = { port, connections, request: { ...request, ...own, headers } };
      runners.push({ name, server, stub, load, window, samples: [] });
    }
    for (const runner of runners) await warm(runner);
    for (let round = 0; round < rounds; round += 1) {
      for (const runner of runners) runner.samples.push(await runWindow(runner, ms));
    }
    return Object.fromEntries(runners.map((runner) => [runner.name, summaryOf(runner, runners)]));
  } finally {
    for (const { stop } of [stub, load, ...runners.map(({ server }) => server)]) stop();
    await postgres?.stop();
  }
}

async function warm(runner) {
  const endMs = performance.now() + warmUp.ms;
  for (let requests = 0; requests < warmUp.requests && performance.now() < endMs; ) {
    requests += (await runWindow(runner, warmUp.windowMs)).requests;
  }
}

async function runWindow({ name, server, stub, load, window }, ms) {
  await load.ask('open', window);
  const [before, callsBefore] = [await server.ask('used'), await stub.ask('calls')];
  const { requests, wrong, tookMs, p50Ms, p99Ms } = await load.ask('run', { ms });
  const [after, callsAfter] = [await server.ask('used'), await stub.ask('calls')];
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
    /** Of one core. The server must be what is busy: else it is the load, or another program, that is measured. */
    busy: cpuUs / 1000 / tookMs,
    upstreamCalls: (callsAfter - callsBefore) / requests,
  };
}

function summaryOf({ samples }, runners) {
  const medians = Object.fromEntries(Object.keys(samples[0]).map((key) => [key, median(samples.map((s) => s[key]))]));
  const timesOf = (name, key = 'cpuUs') => {
    const others = runners.find((runner) => runner.name === name)?.samples;
    return others && median(samples.map((sample, round) => sample[key] / others[round][key]));
  };
  return {
    ...medians,
    timesLimit: timesOf('limit'),
    timesUsual: timesOf('usual'),
    p99TimesUsual: timesOf('usual', 'p99Ms'),
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
