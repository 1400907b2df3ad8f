import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateKeyPair } from '../../src/index.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

/** Only a benchmark that hangs takes this long, even on a busy machine. */
const limitMs = 900_000;

// Each benchmark runs and prints its table. The measured values are not checked.
const bench = path.join(import.meta.dirname, '../../bench');
const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [path.join(bench, script), ...args], { timeout: limitMs });

const load = (file: string) => import(pathToFileURL(path.join(bench, file)).href);

/** The first cell of each row of the Markdown table whose first column has this title. */
function rowsOf(printed: string, head: string): string[] {
  const lines = printed.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`)) + 2;
  const rows = lines.slice(from, lines.indexOf('', from));
  return rows.map((row) => row.split('|')[1]?.trim() ?? '');
}

test(
  'bench prints and writes the tables of a workload, the streams and the goals',
  async () => {
    const out = temporaryFolder();
    const short = ['--rounds', '1', '--ms', '50', '--warm-ms', '50', '--clients', '200', '--busy', '--out', out];
    const only = ['status, cached', 'streams', 'import', 'settlement'].flatMap((part) => ['--only', part]);
    const { stdout } = await run('run.mjs', ...short, ...only);
    expect(rowsOf(stdout, 'status, cached')).toEqual(['limit', 'ours', 'ours, createServer', 'usual']);
    expect(rowsOf(stdout, '200 streams')).toEqual(['many at one intent', 'each at its own intent', 'limit']);
    expect(stdout.match(/\| 200 \|$/gm)).toHaveLength(3);
    expect(rowsOf(stdout, 'work')).toEqual([
      'GET /status, cached, x limit',
      'GET /status, cached, `createServer`, x limit',
      'import beyond Express',
      'settlement of one payment',
    ]);
    expect(await readFile(path.join(out, 'table.md'), 'utf8')).toContain('| work | goal | measured | reached |');
    expect((await readdir(out)).sort()).toEqual(['results.json', 'status-cached.svg', 'table.md']);
  },
  limitMs,
);

test('bench/ed25519 compares the libraries', async () => {
  const { stdout } = await run('ed25519.mjs', '--rounds', '1', '--ms', '20', '--warm-ms', '20');
  const rows = rowsOf(stdout, 'a key pair and a signature').filter((name) => name !== 'sodium-native');
  expect(rows).toEqual(['express-intents (node:crypto)', '@noble/curves', 'tweetnacl']);
});

test(
  'bench, for a server that allocates a known number of bytes, measures that number',
  async () => {
    const [{ measureWorkload }, { bytesOfArray }] = await Promise.all([
      load('measure.mjs'),
      load('servers/allocating.mjs'),
    ]);
    const server = { module: 'allocating' };
    const variants = { few: { ...server, arrays: 10 }, many: { ...server, arrays: 40 } };
    const workload = { request: { path: '/' }, variants };
    const { few, many } = await measureWorkload(workload, { rounds: 1, ms: 50, connections: 8, warmMs: 2_000 });
    const added = (many.allocatedBytes - few.allocatedBytes) / (30 * bytesOfArray);
    expect(added).toBeGreaterThan(0.9);
    expect(added).toBeLessThan(1.1);
  },
  limitMs,
);

test('the open loop, for a server that falls behind, counts latency from the scheduled time', async () => {
  const { startChild } = await load('process.mjs');
  const server = createServer((_req, res) => void setTimeout(() => res.end(), 20));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients = startChild('./load.mjs');
  const { port } = server.address() as AddressInfo;
  await clients.call('open', { ports: [port], connections: 1, request: { path: '/' } });
  // 50 responses take a second on one connection, so the last is half a second late.
  const { requests, wrong, p99Ms } = await clients.call('pace', { ms: 500, perSecond: 100 });
  expect({ requests, wrong }).toEqual({ requests: 50, wrong: 0 });
  expect(p99Ms).toBeGreaterThan(400);
  await clients.call('close');
  clients.stop();
  server.close();
});

test(
  'bench:fleet prints a row for each workload',
  async () => {
    const short = ['--rounds', '1', '--ms', '300', '--per-second', '40', '--warm-ms', '50'];
    const { stdout } = await run('fleet.mjs', ...short, '--only', 'login', '--only', 'status');
    for (const workload of ['login', 'status'])
      expect(stdout).toMatch(new RegExp(`^\\| ${workload} \\|.*\\d\\.\\d\\d \\|$`, 'm'));
  },
  limitMs,
);

test(
  'bench:capacity prints the constants of the model',
  async () => {
    const short = ['--rounds', '1', '--ms', '300', '--warm-ms', '50', '--clients', '100'];
    const { stdout } = await run('capacity.mjs', ...short, '--out', temporaryFolder());
    const published = JSON.parse(await readFile(path.join(bench, 'published/capacity.json'), 'utf8'));
    expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys(published));
  },
  limitMs,
);

test(
  'bench:capacity --backlog settles all payments, with and without an outage of the service',
  async () => {
    for (const outage of ['0', '1000']) {
      const { stdout } = await run('capacity.mjs', '--backlog', '100', '--service-ms', '5', '--outage-ms', outage);
      expect(stdout).toMatch(/^100 of 100 settled in \d+\.\d s: /);
    }
  },
  limitMs,
);

test(
  'bench:soak creates payments and writes its charts',
  async () => {
    const out = temporaryFolder();
    const { stdout } = await run('soak.mjs', '--count', '2000', '--windows', '4', '--out', out);
    expect(stdout).toMatch(/^2000 payments\. The heap has \d+\.\d\d MB at the end\.$/m);
    expect(stdout).toContain('To check memory, run more than 200000 payments.');
    const { samples } = JSON.parse(await readFile(path.join(out, 'soak.json'), 'utf8'));
    expect(samples.map(({ created }: { created: number }) => created)).toEqual([500, 1000, 1500, 2000]);
    expect((await readdir(out)).sort()).toEqual(['soak-latency.svg', 'soak-memory.svg', 'soak.json']);
    expect(await readFile(path.join(out, 'soak-memory.svg'), 'utf8')).toMatch(/^<svg .*RSS, MB.*<\/svg>\n$/s);
  },
  limitMs,
);

async function startServer(name: string, sequencer: Sequencer, options: object = {}) {
  const { secret } = generateKeyPair();
  const [seed = new Uint8Array()] = parseSecrets(secret);
  const { default: start } = await load(`servers/${name}.mjs`);
  const server: Server = await start({
    url: sequencer.url,
    domain: 'example.com',
    destination: generateKeyPair().publicKey,
    verifierSeed: Buffer.from(seed).toString('hex'),
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin, stop };
}

async function create(origin: string, mode: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${origin}/intent`, { method: 'POST', headers, body: JSON.stringify({ mode }) });
  expect(answer.status).toBe(201);
  return answer;
}

const secretOf = async (answer: Response) => ((await answer.json()) as { client_secret: string }).client_secret;

test('the server "bare" of the benchmark sends the same headers and cookie as the router', async () => {
  const sequencer = await startSequencer();
  const headersOf = (answer: Response) => {
    const headers = Object.fromEntries(answer.headers);
    const [cookie, ...attributes] = headers['set-cookie']?.split('; ') ?? [];
    return { ...headers, date: '', 'set-cookie': [cookie?.length, ...attributes.sort()] };
  };
  const responsesOf = async (name: string) => {
    const { origin, stop } = await startServer(name, sequencer);
    const created = await create(origin, 'payment');
    const { id } = await sequencer.wallet('Ada').pay(await secretOf(created));
    const status = await fetch(`${origin}/status/${id}`);
    stop();
    return [created, status].map(headersOf);
  };
  expect(await responsesOf('bare')).toEqual(await responsesOf('ours'));
  await sequencer.close();
});

// The compared servers work: a wallet pays their payments and confirms their logins.
describe.each([
  ['limit', {}],
  ['usual', {}],
  ['usual', { signing: 'tweetnacl' }],
  ['bare', {}],
  ['ours', {}],
])('the server "%s" of the benchmark, %j', (name, options) => {
  let sequencer: Sequencer;
  let server: Awaited<ReturnType<typeof startServer>>;

  beforeAll(async () => {
    sequencer = await startSequencer();
    server = await startServer(name, sequencer, options);
    sequencer.setLocalDomain('example.com', server.origin);
  });

  afterAll(async () => {
    server.stop();
    await sequencer.close();
  });

  const begin = async (mode: string) => secretOf(await create(server.origin, mode));

  test('creates payments that a wallet pays, and returns their status', async () => {
    const { id, amount } = await sequencer.wallet('Ada').pay(await begin('payment'));
    expect(amount).toBe('4.50');
    expect(await (await fetch(`${server.origin}/status/${id}`)).json()).toEqual({
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
