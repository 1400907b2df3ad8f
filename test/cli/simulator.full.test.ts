import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseEnv } from 'node:util';
import { createIntentClient, createSigner, generateKeyPair } from '../../src/index.js';
import { createWallet } from '../../src/testing.js';
import { serve } from '../support/sites/serve.js';
import { runCommand } from './support/run-command.js';
import { printed, type StartedCommand, startCommand } from './support/start-command.js';

/** The output at startup. */
async function welcomeOf(started: StartedCommand): Promise<string> {
  return (await printed(started, /^[\s\S]*Press Ctrl\+C to stop\.\n/))[0];
}

/** The printed lines for .env. */
const settingsOf = async (started: StartedCommand) => {
  const lines = (await welcomeOf(started)).split('\n');
  return parseEnv(lines.filter((line) => line.startsWith('INTENT_')).join('\n'));
};
const urlOf = async (started: StartedCommand): Promise<string> =>
  (await settingsOf(started)).INTENT_SEQUENCER_URL ?? '';

it('express-intents simulator runs until it receives a signal, prints its addresses, and serves them (interface 4.1, 4.3, 4.4)', async () => {
  const started = startCommand(['simulator', '--port', '0']);
  const url = await urlOf(started);
  expect((await welcomeOf(started)).split('\n').slice(0, 9)).toEqual([
    'The simulator is running, for development. It moves no money.',
    '',
    `  URL        ${url}`,
    `  inspector  ${url}/inspector   shows requests live, injects faults`,
    `  wallet     ${url}/wallet   Ada, Ben, Mia`,
    '',
    'Add these lines to the .env of an app:',
    '',
    `INTENT_SEQUENCER_URL=${url}`,
  ]);
  expect(await settingsOf(started)).toEqual({
    INTENT_SEQUENCER_URL: url,
    INTENT_WALLET_URL: `${url}/wallet`,
    INTENT_WEBHOOK_PUBLIC_KEY: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
  });
  const client = createIntentClient({ url });
  const destination = generateKeyPair().publicKey;
  const { id, clientSecret } = await client.paymentIntents.create({ destination, amount: 5, currency: 'usd' });
  await createWallet({ url, name: 'Zoe' }).pay(clientSecret);
  expect(await client.paymentIntents.getStatus(id)).toMatchObject({ intentSubmitted: true });
  await client.close();
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends express-intents simulator with code 0, also while a stream is open',
  async (signal) => {
    const started = startCommand(['simulator', '--port', '0']);
    const client = createIntentClient({ url: await urlOf(started) });
    const destination = generateKeyPair().publicKey;
    const intent = await client.paymentIntents.create({ destination, amount: 5, currency: 'usd' });
    const watching = client.watch(intent)[Symbol.asyncIterator]();
    const next = watching.next().catch(() => undefined);
    started.child.kill(signal);
    expect(await started.ended).toBe(0);
    expect(started.printed.error).toBe('');
    await client.close();
    await next;
  },
);

it('express-intents simulator --grpc-port serves gRPC (interface 4.2), and --json prints JSON', async () => {
  const started = startCommand(['simulator', '--port', '0', '--grpc-port', '0', '--json']);
  const { grpcUrl, url, ...rest } = JSON.parse((await printed(started, /^.+(?=\n)/))[0]);
  expect(rest).toEqual({
    inspectorUrl: `${url}/inspector`,
    walletUrl: `${url}/wallet`,
    webhookPublicKey: expect.any(String),
  });
  const client = createIntentClient({ grpcUrl });
  expect(await client.paymentIntents.getStatus(generateKeyPair().publicKey)).toMatchObject({ exists: false });
  await client.close();
});

it('express-intents simulator --local-domain reads the key files of these domains at local origins (interface 4.6)', async () => {
  const verifier = createSigner(generateKeyPair().secret);
  const origin = await serve((_req, res) => res.end(JSON.stringify({ public_keys: [verifier.publicKey] })));
  const locals = ['shop.example', 'example.co.uk'].map((domain) => `--local-domain=${domain}=${origin}`);
  const started = startCommand(['simulator', '--port=0', ...locals]);
  const client = createIntentClient({ url: await urlOf(started) });
  for (const domain of ['shop.example', 'example.co.uk']) {
    expect(await welcomeOf(started)).toContain(`  key file   ${origin}   of ${domain}\n`);
    const login = { verifier: verifier.publicKey, domain };
    expect(await client.loginIntents.create({ login, signers: [verifier] })).toHaveProperty('clientSecret');
  }
  await client.close();
});

it('express-intents simulator is refused in production, with exit code 1', async () => {
  const { printed: so, ended } = startCommand(['simulator', '--port', '0'], { NODE_ENV: 'production' });
  expect(await ended).toBe(1);
  expect(so.out).toBe('');
  expect(so.error).toContain('NODE_ENV=production');
});

it('express-intents simulator is refused on a port in use, with exit code 1', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, out, error } = await runCommand(['simulator', '--port', String(port)]);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toMatch(new RegExp(`port ${port} .*Choose a free port, such as --port 4848`));
  expect(error).not.toMatch(/\n\s+at /);
  await new Promise((resolve) => other.close(resolve));
});

it.each([
  ['--port=65536'],
  ['--local-domain=shop.example='],
  ['--local-domain=shop.example=http://127.0.0.1:1/path'],
  ['--local-domain=www.shop.example=http://127.0.0.1:1'],
  ['--prot=0'],
])('express-intents simulator rejects %s with exit code 2 and starts nothing', async (argument) => {
  // The port comes first. A second --port overrides it.
  const { code, out, error } = await runCommand(['simulator', '--port=0', argument]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toMatch(/--port|--local|--prot|Too many arguments/);
  expect(error).not.toMatch(/\n\s+at /);
});
