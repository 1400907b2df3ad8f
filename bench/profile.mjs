// Where the time of one variant goes: writes bench/results/<name>.cpuprofile, for the browser's developer tools or
// https://www.speedscope.app, and prints the functions that take most of it.
//   npm run bench:profile [-- --work 'create payment' --variant ours --ms 5000 --top 40]
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { measureWork } from './measure.mjs';
import { works } from './works.mjs';

const { values } = parseArgs({
  options: {
    work: { type: 'string', default: 'create payment' },
    variant: { type: 'string', default: 'ours' },
    ms: { type: 'string', default: '5000' },
    top: { type: 'string', default: '40' },
  },
});
const { work, variant } = values;
const folder = new URL('./results/', import.meta.url);
const raw = new URL('./raw/', folder);
await rm(raw, { recursive: true, force: true });
await mkdir(raw, { recursive: true });

const execArgv = ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${raw.pathname}`];
const profiled = { ...works[work], variants: { [variant]: { ...works[work].variants[variant], execArgv } } };
await measureWork(profiled, { rounds: 1, ms: Number(values.ms), connections: 32 });
const file = await written();
const name = `${work}-${variant}`.replaceAll(/\W+/g, '-');
await rename(file, new URL(`${name}.cpuprofile`, folder));
await rm(raw, { recursive: true });
print(JSON.parse(await readFile(new URL(`${name}.cpuprofile`, folder), 'utf8')));

/** The profile is written when the process ends, which takes a moment. */
async function written() {
  for (;;) {
    const [found] = await readdir(raw);
    if (found) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return new URL(found, raw);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function print({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map();
  let total = 0;
  samples.forEach((id, index) => {
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    if (functionName === '(idle)' || functionName === '(root)') return;
    const place = url.replace(/^.*\/(node_modules|dist|build|bench)\//, '$1/');
    const key = `${functionName || '(anonymous)'} ${place}${place && `:${lineNumber + 1}`}`;
    times.set(key, (times.get(key) ?? 0) + timeDeltas[index]);
    total += timeDeltas[index];
  });
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, Number(values.top));
  for (const [key, time] of sorted) console.log(`${((100 * time) / total).toFixed(1).padStart(5)}%  ${key}`);
}
