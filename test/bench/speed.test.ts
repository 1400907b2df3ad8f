import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateKey } from '../../src/index.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';

const bench = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../bench');

test('no ratio is far from what it was', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(bench, 'run.mjs'), '--short'], {
    timeout: 110_000,
  }).catch((error) => error);
  expect(stdout).not.toContain('FAILED');
  expect(stdout.match(/: \d+\.\d\d$/gm)?.length).toBeGreaterThan(6);
}, 120_000);

// What the others are measured by does the work: a wallet pays its intents, and logs in with them.
describe.each(['limit', 'usual', 'bare', 'ours'])('the server "%s" of the benchmark', (name) => {
  let sequencer: Sequencer;
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    sequencer = await startSequencer();
    const { secret } = generateKey();
    const [seed = new Uint8Array()] = parseSecrets(secret);
    const { default: start } = await import(pathToFileURL(path.join(bench, `servers/${name}.mjs`)).href);
    server = await start({
      url: sequencer.url,
      domain: 'example.com',
      destination: generateKey().publicKey,
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

  test('makes payments that a wallet pays, and tells their status', async () => {
    const { id, amount } = await sequencer.wallet('Ada').pay(await begin('payment'));
    expect(amount).toBe('4.50');
    expect(await (await fetch(`${origin}/status/${id}`)).json()).toEqual({
      exists: true,
      code_scanned: true,
      intent_submitted: true,
    });
  });

  // One middleware is there for the payments alone.
  if (name === 'bare') return;
  test('makes logins that a wallet takes', async () => {
    expect(await sequencer.wallet('Ada').login(await begin('login'))).toMatchObject({
      login: { domain: 'example.com' },
    });
  });
});
