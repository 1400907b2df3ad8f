// What it takes to load the package, beside what it takes to load Express: CPU and memory of new processes, in turns.
//   npm run bench:import [-- --rounds 15]
// What is not loaded with it is loaded when it is first needed; the second table says what that takes.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { median } from './measure.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });

/** What importing the package may cost beyond Express. */
const atMost = { cpuMs: 25, mib: 10 };

/** Loads `before`, then measures the load of `name`, and of what is done with it. */
const program = `
const [name, used, ...before] = process.argv.slice(1);
for (const each of before) await import(each);
globalThis.gc();
const [rss, cpu] = [process.memoryUsage.rss(), process.cpuUsage()];
const loaded = await import(name);
eval(used);
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, mib: (process.memoryUsage.rss() - rss) / 2 ** 20 }));`;

/** A router with logins, which reads the list of public suffixes besides. */
const aRouter = `loaded.intentRouter({
  sequencerUrl: 'https://sequencer.example', verifierSecret: '07'.repeat(32), domain: 'example.com', logger: { warn() {}, error() {} },
})`;

function load(name, before, used = '') {
  const args = ['--expose-gc', '--input-type=module', '-e', program, '--', name, used, ...before];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: new URL('..', import.meta.url), encoding: 'utf8' }));
}

function measure(title, cases) {
  const samples = cases.map(() => []);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [index, [name, before, used]] of cases.entries()) samples[index].push(load(name, before, used));
  }
  const cpuMs = samples.map((each) => median(each.map((sample) => sample.cpuMs)));
  console.log(`| ${title} | CPU ms | x Express | MiB |\n| --- | ---: | ---: | ---: |`);
  const mib = samples.map((each) => median(each.map((sample) => sample.mib)));
  cases.forEach(([name, , used], index) => {
    const title = used ? `${name}, and a router` : name;
    const cells = [title, cpuMs[index].toFixed(0), (cpuMs[index] / cpuMs[0]).toFixed(2), mib[index].toFixed(1)];
    console.log(`| ${cells.join(' | ')} |`);
  });
  return { cpuMs, mib };
}

const express = ['express', []];
const { cpuMs, mib } = measure('at start, beyond Express', [
  express,
  ['express-intents', ['express']],
  ['express-intents', ['express'], aRouter],
  ['express-intents/client', ['express']],
  ['express-intents/testing', ['express']],
]);
const isReached = cpuMs[1] <= atMost.cpuMs && mib[1] <= atMost.mib;
console.log(
  `At most ${atMost.cpuMs} ms and ${atMost.mib} MiB beyond Express: ${isReached ? 'reached' : 'not reached'}.\n`,
);
const loaded = ['express', 'express-intents'];
measure('when first needed', [
  express,
  ...['undici', 'zod', 'jose', 'ws', 'express-rate-limit', '@grpc/grpc-js', 'pg', '@electric-sql/pglite'].map(
    (name) => [name, loaded],
  ),
]);
