import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import bs58 from 'bs58';
import { compactVerify, importJWK } from 'jose';
import { run } from '../../src/cli/run.js';
import { createIntentClient, createSigner, generateKey } from '../../src/index.js';
import { formatBase58 } from '../../src/keys/base58.js';
import { keyPairFromSeed } from '../../src/keys/ed25519.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { createWallet } from '../../src/testing.js';
import { eventually } from '../support/eventually.js';
import { serve } from '../support/serve.js';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const children: ChildProcess[] = [];

/** Runs a command in this process; gives its exit code and what it printed. */
async function here(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  const lines = { out: [] as string[], error: [] as string[] };
  const code = await run(args, { out: (line) => lines.out.push(line), error: (line) => lines.error.push(line) });
  return { code, out: lines.out.join('\n'), error: lines.error.join('\n') };
}

interface Started {
  readonly child: ChildProcess;
  readonly printed: { out: string; error: string };
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Starts the command as people do: as a process of its own. */
function start(args: string[], environment: NodeJS.ProcessEnv = {}): Started {
  const { NODE_ENV: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], { env: { ...inherited, ...environment } });
  children.push(child);
  const printed = { out: '', error: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.error += chunk;
  });
  return { child, printed, ended: once(child, 'close').then(([code, signal]) => code ?? signal) };
}

/** What it has printed, once that are so many whole lines. */
async function linesOf({ printed, ended }: Started, count: number): Promise<string[]> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const lines = printed.out.split('\n').slice(0, -1);
    if (lines.length >= count) return lines;
    if (hasEnded) throw new Error(`It ended: ${printed.error}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function urlIn(started: Started): Promise<string> {
  const [line = ''] = await linesOf(started, 2);
  return /^sequencer {2}(http:\/\/127\.0\.0\.1:\d+) /.exec(line)?.[1] ?? line;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe('keygen', () => {
  it('prints what can be appended to .env as it is, and the public key of it', async () => {
    const { printed, ended } = start(['keygen']);
    expect(await ended).toBe(0);
    expect(printed.error).toBe('');
    const variables = parseEnv(printed.out);
    expect(Object.keys(variables)).toEqual(['INTENT_VERIFIER_SECRET']);
    const secret = variables.INTENT_VERIFIER_SECRET ?? '';
    const [seed, ...more] = parseSecrets(secret);
    expect(more).toEqual([]);
    const publicKey = formatBase58(keyPairFromSeed(seed ?? new Uint8Array()).publicKey);
    expect(printed.out).toBe(
      `${[
        '# Signs the logins of this site. Keep it secret, and out of version control.',
        `# Its public key: ${publicKey}`,
        `INTENT_VERIFIER_SECRET=${secret}`,
      ].join('\n')}\n`,
    );
    expect(createSigner(secret).publicKey).toBe(publicKey);
  });

  it('prints another one every time', async () => {
    const [one, other] = [await here('keygen'), await here('keygen')];
    expect([one.code, other.code]).toEqual([0, 0]);
    const secretIn = ({ out }: { out: string }) => parseEnv(out).INTENT_VERIFIER_SECRET;
    expect(secretIn(one)).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    expect(secretIn(one)).not.toBe(secretIn(other));
  });

  it.each([['--seed=1'], ['-x'], ['again']])('does not understand %s', async (argument) => {
    const { code, out, error } = await here('keygen', argument);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(argument.split('=')[0]);
  });
});

describe('help', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']], [['sequencer', '--help']]])(
    'is the answer to %j',
    async (args) => {
      const { code, out, error } = await here(...args);
      expect({ code, error }).toEqual({ code: 0, error: '' });
      expect(out).toMatch(/^Usage: express-intents <command>/);
      for (const word of ['keygen', 'sequencer', '--port', '--grpc-port', '--state', '--local'])
        expect(out).toContain(word);
    },
  );

  it.each([['doctor'], ['Keygen'], ['toString'], ['__proto__'], ['--port']])(
    'comes with the refusal of the command %s, on the error stream',
    async (name) => {
      const { code, out, error } = await here(name);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(error).toContain(`There is no command "${name}".`);
      expect(error).toContain('Usage: express-intents <command>');
    },
  );

  it('exit codes reach the shell', async () => {
    const codes = [[], ['doctor'], ['keygen', '--unknown']].map((args) => start(args).ended);
    expect(await Promise.all(codes)).toEqual([0, 2, 2]);
  }, 20_000);
});

describe('sequencer', () => {
  it('runs until it is told to end, prints where it is, and serves there (interface 4.1, 4.3, 4.4)', async () => {
    const started = start(['sequencer', '--port', '0']);
    const url = await urlIn(started);
    const lines = await linesOf(started, 5);
    expect(lines.slice(0, 4)).toEqual([
      `sequencer  ${url}   (INTENT_SEQUENCER_URL=${url})`,
      `inspector  ${url}/inspector`,
      `wallet     ${url}/wallet`,
      `faults     ${url}/faults`,
    ]);
    expect(lines[4]).toMatch(/^INTENT_SERVICE_KEY=[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    const client = createIntentClient({ url });
    const destination = generateKey().publicKey;
    const { id, clientSecret } = await client.paymentIntents.create({ destination, amount: 5, currency: 'usd' });
    await createWallet({ url, name: 'Zoe' }).pay(clientSecret);
    expect(await client.paymentIntents.getStatus(id)).toMatchObject({ intentSubmitted: true });
    await client.close();
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe('SIGTERM');
    expect(started.printed.error).toBe('');
  });

  it('prints the key that its webhook calls are signed with (protocol 5)', async () => {
    const started = start(['sequencer', '--port', '0']);
    const client = createIntentClient({ url: await urlIn(started) });
    const bodies: Promise<Uint8Array[]>[] = [];
    const webhook = await serve((req, res) => {
      bodies.push(req.toArray());
      req.on('end', () => res.end());
    });
    const destination = generateKey().publicKey;
    const { id, clientSecret } = await client.paymentIntents.create({ destination, amount: 5, currency: 'usd' });
    await client.registerWebhook({ intent: id, url: webhook });
    await createWallet({ url: await urlIn(started), name: 'Zoe' }).pay(clientSecret);
    await eventually('the webhook is called', () => bodies.length === 1);
    const jwt = Buffer.concat((await bodies[0]) ?? []);
    const [, key = ''] = /^INTENT_SERVICE_KEY=(.+)$/m.exec((await linesOf(started, 5)).join('\n')) ?? [];
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(bs58.decode(key)).toString('base64url') };
    const { payload } = await compactVerify(jwt, await importJWK(jwk, 'EdDSA'));
    expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({ intent: id, state: 'SUBMITTED' });
    await client.close();
  });

  it('answers over gRPC as well with --grpc-port (interface 4.2)', async () => {
    const started = start(['sequencer', '--port', '0', '--grpc-port', '0']);
    const [, printed = ''] = await linesOf(started, 2);
    const [line, grpcUrl] = /^gRPC {7}(\S+) {3}\(INTENT_SEQUENCER_GRPC_URL=\1\)$/.exec(printed) ?? [];
    expect(line).toBeDefined();
    const client = createIntentClient({ grpcUrl });
    expect(await client.paymentIntents.getStatus(generateKey().publicKey)).toMatchObject({ exists: false });
    await client.close();
  });

  it('reads the key files of domains where --local says, for several of them (interface 4.6)', async () => {
    const verifier = createSigner(generateKey().secret);
    const origin = await serve((_req, res) => res.end(JSON.stringify({ public_keys: [verifier.publicKey] })));
    const locals = ['shop.example', 'example.co.uk'].map((domain) => `--local=${domain}=${origin}`);
    const client = createIntentClient({ url: await urlIn(start(['sequencer', '--port=0', ...locals])) });
    for (const domain of ['shop.example', 'example.co.uk']) {
      const login = { verifier: verifier.publicKey, domain };
      expect(await client.loginIntents.create({ login, signers: [verifier] })).toHaveProperty('clientSecret');
    }
    await client.close();
  });

  it('refuses to run in production, with exit code 1', async () => {
    const { printed, ended } = start(['sequencer', '--port', '0'], { NODE_ENV: 'production' });
    expect(await ended).toBe(1);
    expect(printed.out).toBe('');
    expect(printed.error).toContain('NODE_ENV=production');
  });

  it('refuses a port in use, with exit code 1', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, out, error } = await here('sequencer', '--port', String(port));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toContain(`${port}`);
    expect(error).not.toMatch(/\n\s+at /);
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([
    ['--port=http'],
    ['--port=65536'],
    ['--port=1e3'],
    ['--port='],
    ['--port=0x1f'],
    ['--local=shop.example'],
    ['--local=shop.example='],
    ['--local==http://127.0.0.1:1'],
    ['--local=shop.example=http://127.0.0.1:1/path'],
    ['--local=shop.example=http://192.0.2.1'],
    ['--local=www.shop.example=http://127.0.0.1:1'],
    ['--local=localhost=http://127.0.0.1:1'],
  ])('refuses %s, with exit code 1 and nothing started', async (argument) => {
    // The port comes first, so that the flag under test wins where it is one too.
    const { code, out, error } = await here('sequencer', '--port=0', argument);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toMatch(/--port|--local|local origin|Expected|Subdomains/);
    expect(error).not.toMatch(/\n\s+at /);
  });

  it.each([['--prot=0'], ['--port'], ['now']])('does not understand %s', async (argument) => {
    const { code, out } = await here('sequencer', '--port=0', argument);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});
