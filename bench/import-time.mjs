// Measures what the import of the package adds to a process that has imported Express. Used by run.mjs; as a process of its own,
// it imports the packages of its arguments and prints how long that took and how much memory it added.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { differenceOf } from './statistics.mjs';

const file = fileURLToPath(import.meta.url);

async function importInChild(...packages) {
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...packages]);
  return JSON.parse(stdout);
}

/** @returns milliseconds and MiB beyond Express, medians of processes in turns */
export async function measureImport(rounds) {
  const [express, both] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    express.push(await importInChild('express'));
    both.push(await importInChild('express', 'express-intents'));
  }
  return { ms: differenceOf(both, express, 'ms'), mib: differenceOf(both, express, 'mib') };
}

if (process.argv[1] === file) {
  const [startedAtMs, rss] = [performance.now(), process.memoryUsage.rss()];
  for (const name of process.argv.slice(2)) await import(name);
  const ms = performance.now() - startedAtMs;
  process.stdout.write(JSON.stringify({ ms, mib: (process.memoryUsage.rss() - rss) / 2 ** 20 }));
}
