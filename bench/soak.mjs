// Whether memory stays flat, and answers stay as fast, over a million payments that are created and asked for once each.
//   npm run bench:soak [-- --count 1000000 --windows 50 --connections 32 --out bench/results]
//   npm run bench:soak -- --traffic pipelined-events --minutes 30
//   npm run bench:soak -- --reconnect 2000    when event streams are back after a restart: see reconnect.mjs
// Needs a build. Writes soak.json, soak-memory.svg and soak-latency.svg. Exits with 1 when memory grows. Other programs
// may run meanwhile: they make it slower, but not larger.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startChild } from './child.mjs';
import { linePlot } from './line-plot.mjs';
import { site } from './measure.mjs';
import { measureReconnect } from './reconnect.mjs';
import { soakPipelined } from './soak-pipelined.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    windows: { type: 'string', default: '50' },
    connections: { type: 'string', default: '32' },
    traffic: { type: 'string', default: 'payments' },
    minutes: { type: 'string', default: '30' },
    reconnect: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    'down-ms': { type: 'string', default: '1000' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results') },
  },
});
if (values.traffic === 'pipelined-events') {
  const isFlat = await soakPipelined({ minutes: Number(values.minutes), out: values.out });
  process.exit(isFlat === false ? 1 : 0);
}
if (values.traffic !== 'payments') throw new Error('--traffic is payments or pipelined-events.');
const [count, windows, connections] = ['count', 'windows', 'connections'].map((name) => Number(values[name]));

/** What is kept of so many intents is kept on purpose, and no more: before they have come, memory grows as it should. */
const warmUpCount = 200_000;
/** Bytes for each 100,000 intents after that. */
const mayGrow = 1_000_000;

/** By how much something grows with each 100,000 payments: the slope of the line that lies nearest, and its standard error. */
function growthOf(samples, key) {
  const sumOf = (of) => samples.reduce((sum, sample) => sum + of(sample), 0);
  const x = ({ created }) => created / 100_000;
  const [meanX, meanY] = [sumOf(x) / samples.length, sumOf((sample) => sample[key]) / samples.length];
  const spread = sumOf((sample) => (x(sample) - meanX) ** 2);
  const bytes = sumOf((sample) => (x(sample) - meanX) * (sample[key] - meanY)) / spread;
  const missed = sumOf((sample) => (sample[key] - meanY - bytes * (x(sample) - meanX)) ** 2);
  return { bytes, error: Math.sqrt(missed / (samples.length - 2) / spread) };
}

async function soak() {
  const [stub, visitors] = [startChild('./stub.mjs'), startChild('./soak-visitors.mjs')];
  const server = startChild('./server.mjs', ['--expose-gc']);
  try {
    const { url } = await stub.ask('addresses');
    const port = await server.ask('start', { ...site, url, module: 'ours' });
    await visitors.ask('open', { port, connections });
    const samples = [];
    for (let created = 0; created < count; ) {
      const before = await server.ask('used');
      const window = await visitors.ask('run', { count: Math.min(Math.ceil(count / windows), count - created) });
      const cpuUs = (await server.ask('used')).cpuUs - before.cpuUs;
      created += window.created;
      samples.push({ ...window, created, cpuUs: cpuUs / window.created, ...(await server.ask('held')) });
    }
    return samples;
  } finally {
    for (const child of [stub, visitors, server]) child.stop();
  }
}

async function write(samples, growth) {
  const xs = samples.map(({ created }) => created);
  const of = (read) => samples.map(read);
  const inMb = (key) => of((sample) => sample[key] / 1e6);
  const common = { xs, xTitle: 'payments created, and the status of each asked for' };
  const memory = { 'RSS, MB': inMb('rss'), 'JavaScript, MB': inMb('held') };
  const latency = {
    'create p50, ms': of(({ create }) => create.p50Ms),
    'create p99, ms': of(({ create }) => create.p99Ms),
    'status p50, ms': of(({ status }) => status.p50Ms),
    'status p99, ms': of(({ status }) => status.p99Ms),
  };
  await mkdir(values.out, { recursive: true });
  const put = (name, text) => writeFile(path.join(values.out, name), text);
  const { node } = process.versions;
  // A line for each sample.
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  const about = JSON.stringify({ node, connections, growth }).slice(1, -1);
  await put('soak.json', `{${about},"samples":[\n${lines}\n]}\n`);
  await put(
    'soak-memory.svg',
    linePlot({ title: 'Memory of the server, after a collection', ...common, series: memory }),
  );
  await put('soak-latency.svg', linePlot({ title: 'Answers', ...common, series: latency }));
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
console.log(
  `${last.created} payments created, and the status of each asked for; at the end ${mb(last.held)} MB are held.`,
);
const refused = samples.reduce((sum, sample) => sum + sample.refused, 0);
if (refused > 0) console.log(`${refused} had to be asked again: the machine was busy with other things.`);
let growth;
if (settled.length < 10) {
  console.log(`Whether memory is flat shows only over more than ${warmUpCount} of them.`);
} else {
  growth = { held: growthOf(settled, 'held'), rss: growthOf(settled, 'rss') };
  const isFlat = growth.held.bytes < mayGrow;
  const growthText = ({ bytes, error }) => `${mb(bytes)} MB, give or take ${mb(error)}`;
  console.log(
    `Each 100,000 after the first ${warmUpCount}: JavaScript ${growthText(growth.held)}; RSS ${growthText(growth.rss)}.`,
  );
  console.log(isFlat ? 'Memory is flat.' : `FAILED: memory grows by ${mb(mayGrow)} MB or more.`);
  if (!isFlat) process.exitCode = 1;
}
await write(samples, growth);
