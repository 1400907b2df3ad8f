import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The benchmarks in little, so that they do not rot: what they count is checked, what they measure is not.
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [path.join(root, 'bench', script), ...args], { timeout: 60_000 });

test('200 clients are all told, and nothing is left of them', async () => {
  const { stdout } = await run('sse.mjs', '--clients', '200', '--max-bytes', '0');
  expect(stdout.match(/200 told in \d+ ms, 0 lost/g)).toHaveLength(2);
  expect(stdout.match(/0 sockets, 0 feeds, 0 watches, 0 seats/g)).toHaveLength(2);
}, 60_000);

test('100 tabs that poll for two seconds cost a few calls', async () => {
  const { stdout } = await run('status.mjs', '--tabs', '100', '--seconds', '2');
  expect(stdout).toMatch(/\d+ answers, 0 wrong, [1-5](\.5)? upstream calls a second/);
}, 60_000);

test('a few payments settle, whoever tells of them and when nobody does', async () => {
  // How soon that is depends on what else the machine does.
  const { stdout } = await run('settle.mjs', '--payments', '2', '--visit-ms', '600').catch((error) => error);
  expect(stdout.match(/ 2 settled: median \d+/g)).toHaveLength(4);
}, 60_000);

test('a look for payments that are due costs as little beside many as beside few', async () => {
  const { stdout } = await run('due.mjs', '--open', '1000,20000');
  expect(stdout.match(/\d+ open: .* with 6 due, \d+ buffers/g)).toHaveLength(2);
}, 60_000);
