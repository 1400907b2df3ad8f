// Measures the variants of a workload in turns. Each variant has its own process; all call the same sequencer.
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { idleMs } from './machine.mjs';
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';
import { isStable, medianOf, othersShareOf } from './statistics.mjs';

/**
 * The longest unmeasured load before each window. While a process is idle, the engine releases memory. Afterwards it collects
 * garbage often until the heap has grown again, which doubles the time of an ordinary Express app.
 */
const leadInMs = 500;

/** Half of the requests per second at which the server is busy. */
const openLoopShare = 0.5;

/**
 * The memory reducer of V8 collects garbage while a process is idle, here during the windows of the other variants. It discards
 * compiled code, and compiling it again takes several seconds. A server under constant load is never idle.
 */
const fullLoadFlags = ['--no-memory-reducer'];

/** In this process young objects fill so much memory that no garbage collection occurs during a window. */
const allocation = {
  execArgv: ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'],
  warmMs: 3_000,
  windowMs: 300,
  windows: 5,
  tries: 10,
};

/** The options of all servers. The account and the seed are examples. */
export const site = {
  domain: 'example.com',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  verifierSeed: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
};

/**
 * Measures the variants. Those of a round are measured one after the other.
 * @param perSecond of the workload: the rate of an open loop, instead of a closed loop
 * @param windowFactor of the workload: its windows are longer by this factor
 * @param keepsCoresAwake of the workload: no core is idle, as on a machine under load
 * @returns for each variant its samples, one for each round, the warm-up, and the allocated bytes of a request
 */
export async function measureWorkload(workload, { rounds, ms, connections, warmMs }) {
  const { perSecond, windowFactor = 1, keepsCoresAwake = false } = workload;
  const bench = new Bench(connections, keepsCoresAwake);
  try {
    const runners = [];
    for (const [name, variant] of Object.entries(workload.variants)) {
      runners.push(await bench.start(name, variant, workload.request));
    }
    for (const runner of runners) await warm(runner, { ms, warmMs });
    for (let round = 0; round < rounds; round += 1) {
      for (const runner of runners) runner.samples.push(await runWindow(runner, { ms: ms * windowFactor, perSecond }));
    }
    for (const { server } of runners) server.stop();
    const results = {};
    for (const { name, warmUp, samples } of runners) {
      const allocator = await bench.start(name, workload.variants[name], workload.request, allocation.execArgv);
      const allocatedBytes = await measureAllocation(allocator, Math.min(warmMs, allocation.warmMs));
      results[name] = { warmUp, samples, allocatedBytes };
    }
    return results;
  } finally {
    await bench.stop();
  }
}

/** The processes of a benchmark: servers, clients, the sequencer and the database. */
class Bench {
  #stub = startChild('./stub.mjs');
  #postgres;
  #connections;
  #servers = [];
  #awake;
  load = startChild('./load.mjs');

  constructor(connections, keepsCoresAwake) {
    this.#connections = connections;
    this.#awake = keepsCoresAwake ? cpus().map(() => startChild('./awake.mjs', [], { detached: true })) : [];
  }

  async start(name, variant, request, execArgv = []) {
    const { request: own, ledger, flags = fullLoadFlags, ...options } = variant;
    const server = startChild('./server.mjs', [...flags, ...execArgv]);
    this.#servers.push(server);
    const { url } = await this.#stub.call('addresses');
    if (ledger) this.#postgres ??= await startPostgres();
    const databaseUrl = ledger && (await this.#postgres.newDatabase());
    const port = await server.call('start', {
      ...site,
      url,
      ...options,
      ...(ledger && { ledger: { url: databaseUrl } }),
    });
    const window = { ports: [port], connections: this.#connections, request: { ...request, ...own } };
    return { name, server, bench: this, window, samples: [] };
  }

  /** The idle time of all cores, and the CPU time of all processes of the benchmark. */
  async readings() {
    const children = [this.#stub, this.load, ...this.#awake, ...this.#servers.filter(({ isRunning }) => isRunning())];
    const times = await Promise.all(children.map((child) => child.call('cpuMs')));
    const { user, system } = process.cpuUsage();
    const postgresMs = this.#postgres && existsSync('/proc') ? this.#postgres.cpuMs() : 0;
    const ownMs = times.reduce((sum, each) => sum + each, (user + system) / 1000 + postgresMs);
    return { atMs: performance.now(), idleMs: idleMs(), ownMs };
  }

  calls() {
    return this.#stub.call('calls');
  }

  async stop() {
    for (const child of [this.#stub, this.load, ...this.#awake, ...this.#servers]) child.stop();
    await this.#postgres?.stop();
  }
}

/** Sends requests until the CPU time of a request is stable. The engine compiles the code. */
async function warm(runner, { ms, warmMs }) {
  const startedAtMs = performance.now();
  const windows = [];
  const isWarm = () => isStable(windows.map(({ cpuUs }) => cpuUs));
  await runner.server.call('observeCollections', true);
  do windows.push(await runWindow(runner, { ms, isWarmUp: true }));
  while (!isWarm() && performance.now() - startedAtMs < warmMs);
  await runner.server.call('observeCollections', false);
  runner.warmUp = {
    tookMs: performance.now() - startedAtMs,
    isStable: isWarm(),
    cpuUs: windows.map(({ cpuUs }) => cpuUs),
    gc: medianOf(windows.slice(-3), 'gc'),
  };
}

/** A closed loop, then an open loop at half of its rate, which measures the latency. */
async function runWindow({ name, server, bench, window }, { ms, perSecond, isWarmUp = false }) {
  const { load } = bench;
  const send = async (pace) => {
    const sent = await load.call(pace.perSecond ? 'pace' : 'repeat', pace);
    if (sent.wrong > 0) throw new Error(`${name}: ${sent.wrong} of ${sent.requests} responses were wrong.`);
    return sent;
  };
  await load.call('open', window);
  if (!isWarmUp) await send({ ms: Math.min(ms, leadInMs), perSecond });
  const machineBefore = await bench.readings();
  const [callsBefore, before] = [await bench.calls(), await server.call('used')];
  const closed = await send({ ms, perSecond });
  const [after, callsAfter] = [await server.call('used'), await bench.calls()];
  const { requests, tookMs } = closed;
  const rate = (requests / tookMs) * 1000;
  const { p50Ms, p99Ms } = isWarmUp || perSecond ? closed : await send({ ms, perSecond: rate * openLoopShare });
  const machineAfter = await bench.readings();
  await load.call('close');
  const used = (key) => after[key] - before[key];
  return {
    requests,
    cpuUs: used('cpuUs') / requests,
    ...(isWarmUp && { gc: (used('gcMs') * 1000) / used('cpuUs') }),
    otherThreads: (used('otherThreadsMs') * 1000) / used('cpuUs'),
    perSecond: rate,
    p50Ms,
    p99Ms,
    rssMiB: after.rss / 2 ** 20,
    upstreamCalls: (callsAfter - callsBefore) / requests,
    others: othersShareOf({ before: machineBefore, after: machineAfter, cores: cpus().length }),
  };
}

/** @returns bytes on the JavaScript heap for one request; undefined if garbage was collected during each window */
async function measureAllocation({ server, bench, window }, warmMs) {
  const { load } = bench;
  const windows = [];
  let ms = allocation.windowMs;
  await server.call('observeCollections', true);
  await load.call('open', window);
  await load.call('repeat', { ms: warmMs });
  for (let tries = 0; windows.length < allocation.windows && tries < allocation.tries; tries += 1) {
    await server.call('held');
    const before = await server.call('used');
    const { requests } = await load.call('repeat', { ms });
    const after = await server.call('used');
    if (after.collections === before.collections) windows.push({ bytes: (after.heap - before.heap) / requests });
    else ms /= 2;
  }
  await load.call('close');
  server.stop();
  return windows.length > 0 ? medianOf(windows, 'bytes') : undefined;
}
