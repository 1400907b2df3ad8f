// Checks that memory and latency stay constant over a million payments: each is created, and its status requested once.
//   npm run bench:soak [-- --count 1000000 --windows 50 --connections 32 --out bench/results]
//   npm run bench:soak -- --traffic pipelined-events --minutes 30
//   npm run bench:soak -- --traffic settlements --minutes 30 --per-second 250
//   npm run bench:soak -- --reconnect 2000    see reconnect.mjs
// Requires a build. Writes soak.json, soak-memory.svg and soak-latency.svg. Exits with 1 if memory grows. Other programs on
// the machine affect the latency, not the memory.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { site } from './measure.mjs';
import { startChild } from './process.mjs';
import { measureReconnect } from './reconnect.mjs';
import { lineChart } from './report.mjs';
import { soakPipelined } from './soak-pipelined.mjs';
import { soakSettlements } from './soak-settlements.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    windows: { type: 'string', default: '50' },
    connections: { type: 'string', default: '32' },
    traffic: { type: 'string', default: 'payments' },
    minutes: { type: 'string', default: '30' },
    'per-second': { type: 'string', default: '250' },
    reconnect: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    'down-ms': { type: 'string', default: '1000' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results') },
  },
});
const others = { 'pipelined-events': soakPipelined, settlements: soakSettlements };
const other = others[values.traffic];
if (other) {
  const options = { minutes: Number(values.minutes), perSecond: Number(values['per-second']), out: values.out };
  process.exit((await other(options)) === false ? 1 : 0);
}
if (values.traffic !== 'payments')
  throw new Error(`--traffic must be payments or one of: ${Object.keys(others).join(', ')}.`);
const [count, windows, connections] = ['count', 'windows', 'connections'].map((name) => Number(values[name]));

/** The caches keep the state of this many intents. Until they are full, memory grows by design. */
const warmUpCount = 200_000;
/** The allowed growth in bytes for each 100,000 intents after that. */
const maxGrowth = 1_000_000;

/** The growth for each 100,000 payments: the slope of a linear regression, and its standard error. */
function growthOf(samples, key) {
  const sumOf = (of) => samples.reduce((sum, sample) => sum + of(sample), 0);
  const x = ({ created }) => created / 100_000;
  const [meanX, meanY] = [sumOf(x) / samples.length, sumOf((sample) => sample[key]) / samples.length];
  const spread = sumOf((sample) => (x(sample) - meanX) ** 2);
  const bytes = sumOf((sample) => (x(sample) - meanX) * (sample[key] - meanY)) / spread;
  const residuals = sumOf((sample) => (sample[key] - meanY - bytes * (x(sample) - meanX)) ** 2);
  return { bytes, error: Math.sqrt(residuals / (samples.length - 2) / spread) };
}

async function soak() {
  const [stub, load] = [startChild('./stub.mjs'), startChild('./load.mjs')];
  const server = startChild('./server.mjs', ['--expose-gc']);
  try {
    const { url } = await stub.call('addresses');
    const port = await server.call('start', { ...site, url, module: 'ours' });
    await load.call('open', { ports: [port], connections });
    const samples = [];
    for (let created = 0; created < count; ) {
      const before = await server.call('used');
      const window = await load.call('createPayments', {
        count: Math.min(Math.ceil(count / windows), count - created),
      });
      const cpuUs = (await server.call('used')).cpuUs - before.cpuUs;
      created += window.created;
      samples.push({ ...window, created, cpuUs: cpuUs / window.created, ...(await server.call('held')) });
    }
    return samples;
  } finally {
    for (const child of [stub, load, server]) child.stop();
  }
}

async function write(samples, growth) {
  const xs = samples.map(({ created }) => created);
  const of = (read) => samples.map(read);
  const inMb = (key) => of((sample) => sample[key] / 1e6);
  const common = { xs, xTitle: 'payments' };
  const memory = { 'RSS, MB': inMb('rss'), 'heap, MB': inMb('held') };
  const latency = {
    'create p50, ms': of(({ create }) => create.p50Ms),
    'create p99, ms': of(({ create }) => create.p99Ms),
    'status p50, ms': of(({ status }) => status.p50Ms),
    'status p99, ms': of(({ status }) => status.p99Ms),
  };
  await mkdir(values.out, { recursive: true });
  const put = (name, text) => writeFile(path.join(values.out, name), text);
  const { node } = process.versions;
  // One line for each sample.
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  const about = JSON.stringify({ node, connections, growth }).slice(1, -1);
  await put('soak.json', `{${about},"samples":[\n${lines}\n]}\n`);
  await put(
    'soak-memory.svg',
    lineChart({ title: 'Memory of the server after a garbage collection', ...common, series: memory }),
  );
  await put('soak-latency.svg', lineChart({ title: 'Latency', ...common, series: latency }));
}

if (values.reconnect) {
  const [reconnect, rounds, downMs] = ['reconnect', 'rounds', 'down-ms'].map((name) => Number(values[name]));
  await measureReconnect({ count: reconnect, rounds, downMs });
  process.exit();
}
const samples = await soak();
const settled = samples.filter(({ created }) => created > warmUpCount);
const mb = (bytes) => (bytes / 1e6).toFixed(2);
const last = samples.at(-1);
console.log(`${last.created} payments. The heap has ${mb(last.held)} MB at the end.`);
const refused = samples.reduce((sum, sample) => sum + sample.refused, 0);
if (refused > 0) console.log(`${refused} requests were repeated after a 503 or 504: other programs used the machine.`);
let growth;
if (settled.length < 10) {
  console.log(`To check memory, run more than ${warmUpCount} payments.`);
} else {
  growth = { held: growthOf(settled, 'held'), rss: growthOf(settled, 'rss') };
  const isFlat = growth.held.bytes < maxGrowth;
  const growthText = ({ bytes, error }) => `${mb(bytes)} MB ± ${mb(error)}`;
  console.log(
    `Growth for each 100,000 payments after the first ${warmUpCount}: heap ${growthText(growth.held)}; RSS ${growthText(growth.rss)}.`,
  );
  console.log(isFlat ? 'Memory is flat.' : `FAILED: the heap grows by ${mb(maxGrowth)} MB or more.`);
  if (!isFlat) process.exitCode = 1;
}
await write(samples, growth);
