import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { formatBase58 } from '../../src/keys/base58.js';
import { keyPairFromSeed } from '../../src/keys/ed25519.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { createSigner } from '../../src/keys/verifier-key.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { runCommand } from './support/run-command.js';
import { startCommand } from './support/start-command.js';

const command = (...args: string[]) => runCommand(args);

const before = { ...process.env };

afterEach(() => {
  process.env = { ...before };
});

it('reads variables without whitespace around their values', async () => {
  const folder = path.join(mkdtempSync(path.join(temporaryFolder(), 'none-')), 'ledger');
  process.env.INTENT_DATABASE_URL = ` ${folder}\n`;
  expect((await command('ledger', 'list')).error).toContain(`There is no ledger in the folder ${folder}.`);
});

it('simulator does not start in production, also with whitespace around NODE_ENV', async () => {
  process.env.NODE_ENV = 'production ';
  const { code, error } = await command('simulator', '--port', '0');
  expect(error).toContain('does not start with NODE_ENV=production');
  expect(code).toBe(1);
});

describe('keygen', () => {
  it('prints lines for .env with the secret and its public key', async () => {
    const { printed, ended } = startCommand(['keygen']);
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
        '# Signs the logins of this site. Keep it secret. Do not commit it.',
        `# Its public key: ${publicKey}`,
        `INTENT_VERIFIER_SECRET=${secret}`,
      ].join('\n')}\n`,
    );
    expect(createSigner(secret).publicKey).toBe(publicKey);
  });

  it('prints JSON with --json', async () => {
    const { secret, publicKey, ...rest } = JSON.parse((await command('keygen', '--json')).out);
    expect(rest).toEqual({});
    expect(createSigner(secret).publicKey).toBe(publicKey);
  });

  it('prints only the configured public keys with --public (interface 2.7)', async () => {
    const keys = [await command('keygen', '--json'), await command('keygen', '--json')].map(({ out }) =>
      JSON.parse(out),
    );
    const [first, second] = keys;
    const file = path.join(mkdtempSync(path.join(temporaryFolder(), 'env-')), '.env');
    writeFileSync(file, `INTENT_VERIFIER_SECRET=${first.secret},${second.secret}\n`);
    delete process.env.INTENT_VERIFIER_SECRET;
    const shown = await command('keygen', '--public', '--env-file', file);
    expect(shown).toMatchObject({ code: 0, error: '' });
    expect(shown.out.split('\n').slice(0, 2)).toEqual([
      `${first.publicKey}   signing key, published`,
      `${second.publicKey}   published only`,
    ]);
    for (const { secret } of keys) expect(shown.out).not.toContain(secret);
    const { out } = await command('keygen', '--public', '--json', '--env-file', file);
    expect(JSON.parse(out)).toEqual({ public_keys: [first.publicKey, second.publicKey] });
    // The environment overrides the file, as with `node --env-file`.
    process.env.INTENT_VERIFIER_SECRET = second.secret;
    expect((await command('keygen', '--public', '--env-file', file)).out).toContain(
      `${second.publicKey}   signing key, published`,
    );
  });

  it.each([['-x'], ['again']])('rejects %s', async (argument) => {
    const { code, out, error } = await command('keygen', argument);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(argument === 'again' ? /^Too many arguments/ : /^Unknown option '-/);
  });
});

describe('the command line', () => {
  it.each([[[]], [['--help']]])('lists every command for %j', async (args) => {
    const { code, out, error } = await command(...args);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/^Usage: express-intents \[options\] \[command\]\n/);
    for (const name of ['keygen', 'doctor', 'simulator', 'migrate', 'ledger']) {
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
  });

  it.each([[['doctor', '--help']]])('shows one command with examples for %j', async (args) => {
    const { code, out } = await command(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: express-intents doctor \[options\]\n/);
    expect(out).toMatch(
      /--offline[\s\S]*\nExamples:\n {2}# before the site starts\n {2}npx express-intents doctor --env-file \.env/,
    );
  });

  it.each([
    ['doctro', /^Unknown command 'doctro'\.\n\(Did you mean doctor\?\)\n/],
    ['__proto__', /^Unknown command '__proto__'\.\n/],
    ['--port', /^Unknown option '--port'\.\n/],
  ])('reports %s on the error stream with exit code 2', async (name, expected) => {
    const { code, out, error } = await command(name);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(expected);
    expect(error).toMatch(/See --help\.$/);
  });

  it('returns its exit codes to the shell', async () => {
    const codes = [[], ['doctro'], ['keygen', '--unknown'], ['ledger', 'list']].map(
      (args) => startCommand(args, { INTENT_DATABASE_URL: '' }).ended,
    );
    expect(await Promise.all(codes)).toEqual([0, 2, 2, 1]);
  });

  it.each([['keygen'], ['--version']])('exits with code 1 if the output cannot be written: %s', async (name) => {
    const file = path.join(temporaryFolder(), 'read-only');
    writeFileSync(file, '');
    const readOnly = openSync(file, 'r');
    const { printed, ended } = startCommand([name], {}, readOnly);
    closeSync(readOnly);
    expect(await ended).toBe(1);
    expect(printed.error).toMatch(/^Writing to stdout failed \(\w+\): the output is incomplete\. .*\n$/);
  });
});
