import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

test('what an intent costs the database is told for each part of its life', async () => {
  const { stdout } = await run('rows.mjs', '--count', '300', '--looks', '2');
  const phases = [...stdout.matchAll(/^(create|look|settle|last look|prune).*? (\d+) +(?:\d+% of|-)/gm)];
  expect(phases.map(([, name]) => name)).toEqual(['create', 'look', 'settle', 'last look', 'prune']);
  for (const [, , walBytes] of phases) expect(Number(walBytes)).toBeGreaterThan(50);
}, 60_000);

test('three processes are measured beside one, and all of it is answered as it should be', async () => {
  const short = ['--rounds', '1', '--ms', '300', '--per-second', '40', '--warm-ms', '50'];
  const { stdout } = await run('fleet.mjs', ...short, '--only', 'login', '--only', 'status');
  for (const work of ['login', 'status']) {
    const [, ...ratios] =
      new RegExp(`^\\| ${work} \\|.*\\| (\\d+\\.\\d\\d) \\| (\\d+\\.\\d\\d) \\|$`, 'm').exec(stdout) ?? [];
    expect(ratios.map(Number).every((ratio) => ratio > 0)).toBe(true);
    expect(ratios).toHaveLength(2);
  }
}, 60_000);

test('a soak of a few payments counts them all, and draws what it has seen', async () => {
  const out = await mkdtemp(path.join(tmpdir(), 'intents-soak-'));
  try {
    const { stdout } = await run('soak.mjs', '--count', '2000', '--windows', '4', '--out', out);
    expect(stdout).toMatch(
      /^2000 payments created, and the status of each asked for; at the end \d+\.\d\d MB are held\.$/m,
    );
    expect(stdout).toContain('Whether memory is flat shows only over more than 200000 of them.');
    const { samples } = JSON.parse(await readFile(path.join(out, 'soak.json'), 'utf8'));
    expect(samples.map(({ created }: { created: number }) => created)).toEqual([500, 1000, 1500, 2000]);
    expect((await readdir(out)).sort()).toEqual(['soak-latency.svg', 'soak-memory.svg', 'soak.json']);
    expect(await readFile(path.join(out, 'soak-memory.svg'), 'utf8')).toMatch(/^<svg .*RSS, MB.*<\/svg>\n$/s);
  } finally {
    await rm(out, { recursive: true });
  }
}, 60_000);
