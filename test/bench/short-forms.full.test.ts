import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateKeyPair } from '../../src/index.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

// Each benchmark runs and prints its table. The measured values are not checked.
const bench = path.join(import.meta.dirname, '../../bench');
const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [path.join(bench, script), ...args], { timeout: 300_000 });

/** The first cell of each row of the Markdown table whose first column has this title. */
function rowsOf(printed: string, head: string): string[] {
  const lines = printed.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`)) + 2;
  const rows = lines.slice(from, lines.indexOf('', from));
  return rows.map((row) => row.split('|')[1]?.trim() ?? '');
}

test('bench prints and writes the tables of a workload and of the streams', async () => {
  const out = temporaryFolder();
  const short = ['--rounds', '1', '--ms', '50', '--warm-ms', '50', '--clients', '200', '--out', out];
  const { stdout } = await run('run.mjs', ...short, '--only', 'status, cached', '--only', 'streams');
  expect(rowsOf(stdout, 'status, cached')).toEqual(['limit', 'usual', 'hello-world', 'ours', 'ours, createServer']);
  expect(rowsOf(stdout, '200 streams')).toEqual(['many at one intent', 'each at its own intent', 'limit']);
  expect(stdout.match(/\| 200 \|$/gm)).toHaveLength(3);
  expect((await readdir(out)).sort()).toEqual(['results.json', 'status-cached.svg', 'table.md']);
}, 300_000);

test('bench:fleet prints a row for each workload', async () => {
  const short = ['--rounds', '1', '--ms', '300', '--per-second', '40', '--warm-ms', '50'];
  const { stdout } = await run('fleet.mjs', ...short, '--only', 'login', '--only', 'status');
  for (const workload of ['login', 'status'])
    expect(stdout).toMatch(new RegExp(`^\\| ${workload} \\|.*\\d\\.\\d\\d \\|$`, 'm'));
}, 300_000);

test('bench:capacity prints the constants of the model', async () => {
  const short = ['--rounds', '1', '--ms', '300', '--warm-ms', '50', '--clients', '100'];
  const { stdout } = await run('capacity.mjs', ...short, '--out', temporaryFolder());
  const published = JSON.parse(await readFile(path.join(bench, 'published/capacity.json'), 'utf8'));
  expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys(published));
}, 300_000);

test('bench:capacity --backlog settles all payments, with and without an outage of the service', async () => {
  for (const outage of ['0', '1000']) {
    const { stdout } = await run('capacity.mjs', '--backlog', '100', '--service-ms', '5', '--outage-ms', outage);
    expect(stdout).toMatch(/^100 of 100 settled in \d+\.\d s: /);
  }
}, 300_000);

test('bench:soak creates payments and writes its charts', async () => {
  const out = temporaryFolder();
  const { stdout } = await run('soak.mjs', '--count', '2000', '--windows', '4', '--out', out);
  expect(stdout).toMatch(/^2000 payments\. The heap has \d+\.\d\d MB at the end\.$/m);
  expect(stdout).toContain('To check memory, run more than 200000 payments.');
  const { samples } = JSON.parse(await readFile(path.join(out, 'soak.json'), 'utf8'));
  expect(samples.map(({ created }: { created: number }) => created)).toEqual([500, 1000, 1500, 2000]);
  expect((await readdir(out)).sort()).toEqual(['soak-latency.svg', 'soak-memory.svg', 'soak.json']);
  expect(await readFile(path.join(out, 'soak-memory.svg'), 'utf8')).toMatch(/^<svg .*RSS, MB.*<\/svg>\n$/s);
}, 300_000);

// The compared servers work: a wallet pays their payments and confirms their logins.
describe.each(['limit', 'usual', 'bare', 'ours'])('the server "%s" of the benchmark', (name) => {
  let sequencer: Sequencer;
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    sequencer = await startSequencer();
    const { secret } = generateKeyPair();
    const [seed = new Uint8Array()] = parseSecrets(secret);
    const { default: start } = await import(pathToFileURL(path.join(bench, `servers/${name}.mjs`)).href);
    server = await start({
      url: sequencer.url,
      domain: 'example.com',
      destination: generateKeyPair().publicKey,
      verifierSeed: Buffer.from(seed).toString('hex'),
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    sequencer.setLocalDomain('example.com', origin);
  });

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await sequencer.close();
  });

  async function begin(mode: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${origin}/intent`, { method: 'POST', headers, body: JSON.stringify({ mode }) });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { client_secret: string }).client_secret;
  }

  test('creates payments that a wallet pays, and returns their status', async () => {
    const { id, amount } = await sequencer.wallet('Ada').pay(await begin('payment'));
    expect(amount).toBe('4.50');
    expect(await (await fetch(`${origin}/status/${id}`)).json()).toEqual({
      exists: true,
      code_scanned: true,
      intent_submitted: true,
    });
  });

  // It creates payments only.
  if (name === 'bare') return;
  test('creates logins that a wallet confirms', async () => {
    expect(await sequencer.wallet('Ada').login(await begin('login'))).toMatchObject({
      login: { domain: 'example.com' },
    });
  });
});
