// What it takes to load the package, beside what it takes to load Express: CPU and memory of new processes, in turns.
//   npm run bench:import [-- --rounds 15]
// What is not loaded with it is loaded when it is first needed; the second table says what that takes.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { median } from './measure.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });

/** Loads `before`, then measures the load of `name`. */
const program = `
const [name, ...before] = process.argv.slice(1);
for (const each of before) await import(each);
globalThis.gc();
const [rss, cpu] = [process.memoryUsage.rss(), process.cpuUsage()];
await import(name);
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, mib: (process.memoryUsage.rss() - rss) / 2 ** 20 }));`;

function load(name, before) {
  const args = ['--expose-gc', '--input-type=module', '-e', program, '--', name, ...before];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: new URL('..', import.meta.url), encoding: 'utf8' }));
}

function measure(title, cases) {
  const samples = cases.map(() => []);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [index, [name, before]] of cases.entries()) samples[index].push(load(name, before));
  }
  const cpuMs = samples.map((each) => median(each.map((sample) => sample.cpuMs)));
  console.log(`| ${title} | CPU ms | x Express | MiB |\n| --- | ---: | ---: | ---: |`);
  cases.forEach(([name], index) => {
    const mib = median(samples[index].map((sample) => sample.mib));
    const cells = [name, cpuMs[index].toFixed(0), (cpuMs[index] / cpuMs[0]).toFixed(2), mib.toFixed(1)];
    console.log(`| ${cells.join(' | ')} |`);
  });
}

const express = ['express', []];
measure('at start, beyond Express', [
  express,
  ['express-intents', ['express']],
  ['express-intents/client', ['express']],
  ['express-intents/testing', ['express']],
]);
console.log();
const loaded = ['express', 'express-intents'];
measure('when first needed', [
  express,
  ...['undici', 'zod', 'jose', 'ws', 'express-rate-limit', '@grpc/grpc-js', 'pg', '@electric-sql/pglite'].map(
    (name) => [name, loaded],
  ),
]);
