// Plants one bug after the other into a copy of the sources, and runs the tests that must detect it.
//   npm run plant -- [--only part-of-a-name]... [--by test-file]... [--jobs 2] [--quick] [--unseen]
// Exits with 1 if a bug is not detected, if its tests fail without it, or if its anchor is not found. `--by` runs other tests,
// `--quick` plants the bugs of `npm test`, and `--unseen` plants nothing, to prove that an undetected bug is reported.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plantInto } from './effects.mjs';
import { plantedBugs } from './planted-bugs.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    by: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '2' },
    quick: { type: 'boolean', default: false },
    unseen: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('../..', import.meta.url));
const copied = ['src', 'test', 'proto', 'docs', 'package.json', 'jest.config.js', 'tsconfig.json'];

/** Copies the sources and tests into a temporary folder. */
function copySources() {
  const copy = mkdtempSync(path.join(tmpdir(), 'express-intents-plant-'));
  for (const name of copied) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

/** Runs tests in a copy. @returns {Promise<{ failed: { title: string, message: string }[], passed: number, broken: string | undefined }>} */
async function runTests(copy, files) {
  const outputFile = path.join(copy, 'result.json');
  rmSync(outputFile, { force: true });
  const jest = path.join(root, 'node_modules/jest/bin/jest.js');
  const flags = ['--ci', '--json', `--outputFile=${outputFile}`, '--silent', ...files.map((file) => `test/${file}`)];
  const child = spawn(process.execPath, ['--liftoff-only', '--experimental-vm-modules', jest, ...flags], {
    cwd: copy,
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.once('exit', resolve));
  if (!existsSync(outputFile)) return { failed: [], passed: 0, broken: 'jest wrote no result' };
  const { testResults, numRuntimeErrorTestSuites, numPassedTests } = JSON.parse(readFileSync(outputFile, 'utf8'));
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages.join('\n') })),
  );
  // A test that fails may take its whole file with it.
  const isBroken = numRuntimeErrorTestSuites > 0 && failed.length === 0;
  const broken = isBroken ? testResults.find(({ message }) => message)?.message : undefined;
  return { failed, passed: numPassedTests, broken };
}

/** @returns the faults of the unchanged sources */
async function checkUnchanged(copy, bugs) {
  const files = [...new Set(bugs.flatMap(({ caughtBy }) => caughtBy))];
  const { failed, passed, broken } = await runTests(copy, files);
  if (broken !== undefined) return [`The tests do not run: ${broken}`];
  if (failed.length > 0) return failed.map(({ title, message }) => `Fails without a bug: ${title}\n${message}`);
  console.log(`plant: ${passed} tests in ${files.length} files pass without a bug`);
  return [];
}

/** @returns the fault, or undefined if the bug was detected */
async function plant(copy, { name, file, caughtBy, ...bug }) {
  const target = path.join(copy, 'src', file);
  const source = readFileSync(target, 'utf8');
  try {
    const planted = plantInto(source, bug);
    writeFileSync(target, values.unseen ? source : planted);
  } catch (error) {
    return `src/${file} has changed, ${bug.anchor}: ${error.message}`;
  }
  const startMs = performance.now();
  try {
    const { failed, broken } = await runTests(copy, caughtBy);
    if (broken !== undefined) return `the tests do not run: ${broken}`;
    if (failed.length === 0) return `not detected by ${caughtBy.join(', ')}`;
    const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
    console.log(`plant: detected in ${seconds} s: ${name}\n       by: ${failed[0].title}${more}`);
    return undefined;
  } finally {
    writeFileSync(target, source);
  }
}

const isWanted = ({ name, isQuick = false }) =>
  (!values.quick || isQuick) && (values.only.length === 0 || values.only.some((part) => name.includes(part)));
const bugs = plantedBugs.filter(isWanted).map((bug) => ({ ...bug, caughtBy: values.by ?? bug.caughtBy }));
const faults = [];
const copies = [];
try {
  if (bugs.length === 0) throw new Error('No planted bug has this name.');
  while (copies.length < Math.min(Number(values.jobs), bugs.length)) copies.push(copySources());
  // `npm test` plants the quick ones, and also runs their tests without a bug.
  if (!values.quick) faults.push(...(await checkUnchanged(copies[0], bugs)));
  const waiting = faults.length === 0 ? [...bugs] : [];
  const plantAll = async (copy) => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const fault = await plant(copy, bug);
      if (fault !== undefined) faults.push(`${bug.name}: ${fault}`);
    }
  };
  await Promise.all(copies.map(plantAll));
} catch (error) {
  faults.push(error.message);
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
for (const fault of faults) console.log(`plant: FAULT: ${fault}`);
console.log(`plant: ${bugs.length} bugs, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
