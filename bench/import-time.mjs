// Measures what the import of the package adds to a process that has imported Express. Used by run.mjs; as a process of its own,
// it imports the packages of its arguments and prints how long that took and how much memory it added.
import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { idleMs } from './machine.mjs';
import { othersShareOf } from './statistics.mjs';

const file = fileURLToPath(import.meta.url);

/** The measured packages, by the names of the variants. */
const variants = { express: ['express'], 'express and express-intents': ['express', 'express-intents'] };

export const importGoals = {
  goals: [
    {
      work: 'import beyond Express',
      variant: 'express and express-intents',
      minus: 'express',
      key: 'importMs',
      atMost: 15,
    },
  ],
};

/** @returns the samples of each variant. Each import has its own process; the variants are in turns */
export async function measureImports(rounds) {
  const results = Object.fromEntries(Object.keys(variants).map((name) => [name, { samples: [] }]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, packages] of Object.entries(variants)) {
      results[name].samples.push(await importInChild(packages));
    }
  }
  return results;
}

async function importInChild(packages) {
  const readings = (ownMs) => ({ atMs: performance.now(), idleMs: idleMs(), ownMs });
  const before = readings(0);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...packages]);
  const { cpuMs, ...sample } = JSON.parse(stdout);
  return { ...sample, others: othersShareOf({ before, after: readings(cpuMs), cores: cpus().length }) };
}

if (process.argv[1] === file) {
  const [startedAtMs, rss] = [performance.now(), process.memoryUsage.rss()];
  for (const name of process.argv.slice(2)) await import(name);
  const importMs = performance.now() - startedAtMs;
  const rssMiB = (process.memoryUsage.rss() - rss) / 2 ** 20;
  const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ importMs, rssMiB, cpuMs: (user + system) / 1000 }));
}
