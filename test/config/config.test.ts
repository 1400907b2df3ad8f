import { hkdfSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import bs58 from 'bs58';
import { type Config, parseConfig } from '../../src/config/config.js';
import type { ConfigOptions, Environment } from '../../src/config/config-options.js';
import { ConfigError, type ConfigProblem, createSigner, generateKeyPair, type Signer } from '../../src/index.js';
import { problemsOf } from '../support/sites/problems-of.js';

const key = generateKeyPair();
const oldKey = generateKeyPair();
const destination = generateKeyPair().publicKey;
const url = 'https://sequencer.example';
/** The required settings of a site with logins. */
const env = { INTENT_SEQUENCER_URL: url, INTENT_VERIFIER_SECRET: key.secret, INTENT_DOMAIN: 'shop.example' };
const production = { ...env, NODE_ENV: 'production' };
const embedded = { NODE_ENV: 'test', INTENT_SEQUENCER_URL: 'embedded' };

const folder = mkdtempSync(join(tmpdir(), 'express-intents-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const problemsIn = (options: ConfigOptions, environment: Environment = env): readonly ConfigProblem[] =>
  problemsOf(() => parseConfig(options, environment));

const settingsOf = (options: ConfigOptions, environment?: Environment): string[] =>
  problemsIn(options, environment).map(({ setting }) => setting);

function loginOf(config: Config): NonNullable<Config['login']> {
  if (!config.login) throw new Error('Logins are off.');
  return config.login;
}

const derived = (secret: Uint8Array | string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'express-intents cookies v1 for shop.example', 32));
const seedOf = (secret: string): Uint8Array => bs58.decode(secret);

describe('parseConfig', () => {
  it('has defaults for everything except the service, the verifier key and the domain', () => {
    const config = parseConfig({}, env);
    expect(config).toMatchObject({
      production: false,
      sequencer: { url, emulatorPort: 4747, dialect: 'intents', timeoutMs: 8_000 },
      login: { domain: 'shop.example', ttlMs: 120_000, sessionTtlMs: 604_800_000 },
      destination: undefined,
      origin: undefined,
      routes: {
        intent: '/intent',
        status: '/status',
        session: '/session',
        keyFile: '/.well-known/service-payments.json',
        openapi: '/intent/v1/openapi.json',
        health: false,
      },
      notices: [],
    });
    const { keyRing, cookieKeys } = loginOf(config);
    expect(keyRing.signer.publicKey).toBe(key.publicKey);
    expect(keyRing.publicKeys).toEqual([key.publicKey]);
    expect(cookieKeys).toEqual([derived(seedOf(key.secret))]);
  });

  it.each<[string, string, (config: Config) => unknown, unknown]>([
    ['INTENT_SEQUENCER_URL', 'http://127.0.0.1:9/base', ({ sequencer }) => sequencer.url, 'http://127.0.0.1:9/base'],
    ['INTENT_EMULATOR_PORT', '5000', ({ sequencer }) => sequencer.emulatorPort, 5000],
    ['INTENT_EMULATOR_PORT', '0', ({ sequencer }) => sequencer.emulatorPort, 0],
    ['INTENT_EMULATOR_PORT', '', ({ sequencer }) => sequencer.emulatorPort, 4747],
    ['INTENT_EMULATOR_STATE', './state.jsonl', ({ sequencer }) => sequencer.emulatorState, './state.jsonl'],
    ['INTENT_EMULATOR_STATE', 'memory', ({ sequencer }) => sequencer.emulatorState, undefined],
    ['INTENT_VERIFIER_SECRET', oldKey.secret, ({ login }) => login?.keyRing.publicKeys, [oldKey.publicKey]],
    ['INTENT_DOMAIN', 'example.co.uk', ({ login }) => login?.domain, 'example.co.uk'],
    ['INTENT_DESTINATION', destination, (config) => config.destination, destination],
    ['INTENT_DESTINATION', '', (config) => config.destination, undefined],
    ['INTENT_ORIGIN', 'http://localhost:3000', ({ origin }) => origin, 'http://localhost:3000'],
    ['INTENT_ORIGIN', '', ({ origin }) => origin, undefined],
    [
      'INTENT_WALLET_URL',
      'https://wallet.example/open?a=1',
      ({ walletUrl }) => walletUrl,
      'https://wallet.example/open?a=1',
    ],
    ['INTENT_WALLET_URL', 'http://127.0.0.1:4747/wallet', ({ walletUrl }) => walletUrl, 'http://127.0.0.1:4747/wallet'],
    ['INTENT_WALLET_URL', '', ({ walletUrl }) => walletUrl, undefined],
    ['INTENT_SECRET', 's'.repeat(32), ({ login }) => login?.cookieKeys, [derived('s'.repeat(32))]],
    ['NODE_ENV', 'production', (config) => config.production, true],
    ['NODE_ENV', 'development', (config) => config.production, false],
  ])('reads %s=%s', (name, value, read, expected) => {
    expect(read(parseConfig({}, { ...env, [name]: value }))).toEqual(expected);
  });

  it.each<[ConfigOptions, Record<string, string>, (config: Config) => unknown, unknown]>([
    [{ sequencerUrl: 'https://b.example' }, {}, ({ sequencer }) => sequencer.url, 'https://b.example'],
    [{ emulator: { port: 0 } }, { INTENT_EMULATOR_PORT: '5000' }, ({ sequencer }) => sequencer.emulatorPort, 0],
    [{ verifierSecret: oldKey.secret }, {}, ({ login }) => login?.keyRing.publicKeys, [oldKey.publicKey]],
    [{ domain: 'example.com' }, {}, ({ login }) => login?.domain, 'example.com'],
    [{ destination }, { INTENT_DESTINATION: key.publicKey }, (config) => config.destination, destination],
    [
      { origin: 'https://a.example' },
      { INTENT_ORIGIN: 'https://b.example' },
      ({ origin }) => origin,
      'https://a.example',
    ],
    [
      { secret: 'a'.repeat(32) },
      { INTENT_SECRET: 'b'.repeat(32) },
      ({ login }) => login?.cookieKeys,
      [derived('a'.repeat(32))],
    ],
  ])('uses the option %j instead of its variable', (options, variables, read, expected) => {
    expect(read(parseConfig(options, { ...env, ...variables }))).toEqual(expected);
  });

  it.each<[ConfigOptions, (config: Config) => unknown, unknown]>([
    [{ dialect: 'messaging' }, ({ sequencer }) => sequencer.dialect, 'messaging'],
    [{ timeoutMs: 1 }, ({ sequencer }) => sequencer.timeoutMs, 1],
    [{ timeoutMs: 2_147_483_647 }, ({ sequencer }) => sequencer.timeoutMs, 2_147_483_647],
    [{ attemptTimeoutMs: 500 }, ({ sequencer }) => sequencer.attemptTimeoutMs, 500],
    [{ timeoutMs: 9_000 }, ({ sequencer }) => sequencer.attemptTimeoutMs, undefined],
    [{ login: { ttlMs: 60_000 } }, ({ login }) => login?.ttlMs, 60_000],
    // A year exceeds the maximum of a timer, which this setting does not use.
    [{ login: { sessionTtlMs: 31_536_000_000 } }, ({ login }) => login?.sessionTtlMs, 31_536_000_000],
    [{ login: { keepSession: ['basket', 'passport'] } }, ({ login }) => login?.keepSession, ['basket', 'passport']],
    [{ login: {} }, ({ login }) => login?.keepSession, []],
    [{ login: false }, ({ login }) => login, undefined],
    [{ login: true }, ({ login }) => login?.domain, 'shop.example'],
  ])('reads the option %j', (options, read, expected) => {
    expect(read(parseConfig(options, env))).toEqual(expected);
  });

  it.each([
    ['basket', 'It must be an array of property names of req.session.'],
    [[7], 'It must be an array of property names of req.session.'],
    [null, 'It must be an array of property names of req.session.'],
    [['basket', 'intentUser'], 'intentUser cannot be kept, because each login sets it.'],
    [['cookie'], 'cookie cannot be kept, because each login sets it.'],
  ])('rejects login.keepSession %j', (keepSession, problem) => {
    expect(problemsIn({ login: { keepSession } } as never, env)).toEqual([
      { setting: 'login.keepSession', problem, fix: "login: { keepSession: ['basket'] }" },
    ]);
  });

  it('reads process.env by default', () => {
    const before = process.env.INTENT_DOMAIN;
    process.env.INTENT_DOMAIN = 'from-the-process.example';
    try {
      const { login } = parseConfig({ sequencerUrl: url, verifierSecret: key.secret });
      expect(login?.domain).toBe('from-the-process.example');
    } finally {
      if (before === undefined) delete process.env.INTENT_DOMAIN;
      else process.env.INTENT_DOMAIN = before;
    }
  });

  it('requires and validates no setting of logins with login: false', () => {
    const { login } = parseConfig({ login: false }, { INTENT_SEQUENCER_URL: url, NODE_ENV: 'production' });
    expect(login).toBeUndefined();
    const broken = {
      INTENT_SEQUENCER_URL: url,
      INTENT_VERIFIER_SECRET: 'x',
      INTENT_DOMAIN: 'x/y',
      INTENT_SECRET: 'short',
    };
    expect(problemsIn({ login: false }, broken)).toEqual([]);
    expect(settingsOf({}, broken)).toEqual(['INTENT_VERIFIER_SECRET', 'INTENT_DOMAIN', 'INTENT_SECRET']);
  });

  it('returns a frozen object and changes neither options nor environment', () => {
    const routes = Object.freeze({ intent: '/pay' });
    const options = Object.freeze({ routes, emulator: { port: 1 } });
    const environment = Object.freeze({ ...env });
    const config = parseConfig(options, environment);
    for (const part of [config, config.sequencer, config.login, config.routes, config.notices]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(routes).toEqual({ intent: '/pay' });
    expect(parseConfig({}, environment).routes.intent).toBe('/intent');
  });
});

describe('verifier keys (interface 2.7, 5.3)', () => {
  const both = `${key.secret}, ${oldKey.secret}`;

  it('rotate: the first key signs, and all are published and decrypt cookies', () => {
    const { keyRing, cookieKeys } = loginOf(parseConfig({}, { ...env, INTENT_VERIFIER_SECRET: both }));
    expect(keyRing.signer.publicKey).toBe(key.publicKey);
    expect(keyRing.publicKeys).toEqual([key.publicKey, oldKey.publicKey]);
    expect(cookieKeys).toEqual([derived(seedOf(key.secret)), derived(seedOf(oldKey.secret))]);
  });

  it.each([
    ['one line', `${key.secret}\n`, [key.publicKey]],
    ['several lines', `${key.secret}\r\n\n${oldKey.secret}\n`, [key.publicKey, oldKey.publicKey]],
    ['commas', both, [key.publicKey, oldKey.publicKey]],
    ['the output of keygen', `# Signs, keep it.\n# A comment\nINTENT_VERIFIER_SECRET=${key.secret}\n`, [key.publicKey]],
  ])('are read from a file of %s', (name, text, publicKeys) => {
    const path = fileOf(name, text);
    const { INTENT_VERIFIER_SECRET: _, ...without } = env;
    const fromVariable = parseConfig({}, { ...without, INTENT_VERIFIER_SECRET_FILE: path });
    expect(loginOf(fromVariable).keyRing.publicKeys).toEqual(publicKeys);
  });

  it.each([
    ['missing', () => join(folder, 'missing'), /cannot be read \(ENOENT\)/],
    ['a folder', () => folder, /cannot be read \(EISDIR\)/],
    ['empty', () => fileOf('empty', ''), /There is no verifier key/],
    ['blank', () => fileOf('blank', ' \n\n'), /There is no verifier key/],
    ['not of secrets', () => fileOf('wrong', `${key.secret}\nhunter2\n`), /Entry 2 of 2 is not a secret key/],
    [
      'of another variable',
      () => fileOf('other', `INTENT_SECRET=${key.secret}\n`),
      /Entry 1 of 1 begins with the name/,
    ],
  ])('from a file that is %s are reported as a problem of the file', (_name, path, problem) => {
    const { INTENT_VERIFIER_SECRET: _, ...without } = env;
    expect(problemsIn({}, { ...without, INTENT_VERIFIER_SECRET_FILE: path() })).toEqual([
      {
        setting: 'INTENT_VERIFIER_SECRET_FILE',
        problem: expect.stringMatching(problem),
        fix: 'Set it to the path of a readable file with the secret. Separate several secrets with commas or newlines.',
      },
    ]);
  });

  it('in a variable and in a file at the same time are rejected', () => {
    const path = fileOf('second', oldKey.secret);
    expect(problemsIn({}, { ...env, INTENT_VERIFIER_SECRET_FILE: path })).toEqual([
      {
        setting: 'INTENT_VERIFIER_SECRET',
        problem: 'INTENT_VERIFIER_SECRET_FILE is set too.',
        fix: 'Unset one of them.',
      },
    ]);
    expect(problemsIn({ verifierSecret: oldKey.secret }, { INTENT_VERIFIER_SECRET_FILE: path })).toEqual(
      expect.arrayContaining([
        { setting: 'verifierSecret', problem: 'INTENT_VERIFIER_SECRET_FILE is set too.', fix: 'Unset one of them.' },
      ]),
    );
  });

  it('are published together with the key of a signer, which replaces the first for signing', () => {
    const signer = createSigner(oldKey.secret);
    const { keyRing, cookieKeys } = loginOf(parseConfig({ signer }, env));
    expect(keyRing.signer).toBe(signer);
    expect(keyRing.publicKeys).toEqual([oldKey.publicKey, key.publicKey]);
    expect(cookieKeys).toEqual([derived(seedOf(key.secret))]);
  });

  it('are not required with a signer and INTENT_SECRET', () => {
    const { INTENT_VERIFIER_SECRET: _, ...without } = env;
    const signer = createSigner(key.secret);
    expect(problemsIn({ signer }, without)).toEqual([
      {
        setting: 'INTENT_SECRET',
        problem: 'It is not set. The cookie key can be derived from INTENT_VERIFIER_SECRET, but not from `signer`.',
        fix: 'INTENT_SECRET=<at least 32 random characters>',
      },
    ]);
    const { keyRing, cookieKeys } = loginOf(parseConfig({ signer, secret: 'c'.repeat(40) }, without));
    expect(keyRing.publicKeys).toEqual([key.publicKey]);
    expect(cookieKeys).toEqual([derived('c'.repeat(40))]);
  });

  it.each<[string, object, string]>([
    [
      'public key',
      { publicKey: 'arn:aws:kms:1', sign: () => new Uint8Array(64) },
      'The value is not the Base58 form of 32 bytes. Copy the whole value again.',
    ],
    ['function', { publicKey: key.publicKey }, 'It has no method `sign`.'],
  ])('from a signer without a %s are reported once, as a problem of the signer', (_name, signer, problem) => {
    const fix = 'signer: { publicKey: <Base58 of 32 bytes>, sign: (bytes) => <Ed25519 signature of 64 bytes> }';
    const { INTENT_VERIFIER_SECRET: _, ...without } = env;
    for (const environment of [env, without]) {
      const options = { signer: signer as Signer, secret: 'c'.repeat(32) };
      expect(problemsIn(options, environment)).toEqual([{ setting: 'signer', problem, fix }]);
    }
  });
});

describe('INTENT_SECRET', () => {
  const [first, second] = ['1'.repeat(32), '2'.repeat(64)] as const;

  it('rotates: the first secret encrypts, all decrypt, and the verifier secret does neither', () => {
    const { cookieKeys } = loginOf(parseConfig({ secret: `${first} , ${second}` }, env));
    expect(cookieKeys).toEqual([derived(first), derived(second)]);
  });

  it.each([
    ['short', 'It is shorter than 32 characters.'],
    ['3'.repeat(31), 'It is shorter than 32 characters.'],
    [`${first},short`, 'Entry 2 of 2 is shorter than 32 characters.'],
    [`${first},`, 'Entry 2 of 2 is empty. Remove the comma.'],
    [' '.repeat(40), 'It is shorter than 32 characters.'],
  ])('rejects "%s"', (secret, problem) => {
    expect(problemsIn({}, { ...env, INTENT_SECRET: secret })).toEqual([
      {
        setting: 'INTENT_SECRET',
        problem,
        fix: 'INTENT_SECRET=<at least 32 random characters>',
      },
    ]);
  });
});

test('parseConfig treats an empty variable as not set', () => {
  const { cookieKeys } = loginOf(parseConfig({}, { ...env, INTENT_SECRET: '' }));
  expect(cookieKeys).toEqual(loginOf(parseConfig({}, env)).cookieKeys);
});

test('parseConfig requires no sequencer URL with a transport', () => {
  const transport = { call: async () => new Uint8Array(), close: async () => undefined };
  expect(parseConfig({ transport, sequencerUrl: '' }, env).sequencer.url).toBe('');
  expect(problemsIn({ transport, sequencerUrl: 'nonsense' })).toHaveLength(1);
});

test.each(['https://user:pass@sequencer.example', 'https://sequencer.example/?key=1', 'https://sequencer.example/#a'])(
  'parseConfig rejects a sequencer URL with parts that are never sent: %s',
  (sequencerUrl) => {
    expect(problemsIn({ sequencerUrl })).toMatchObject([{ problem: expect.stringContaining('must not contain') }]);
  },
);

test.each<[string, Environment]>([
  ['javascript:alert(1)', env],
  ['wallet.example', env],
  ['/wallet', env],
  ['https://', env],
  ['https://wallet.example/#', env],
  ['https://wallet.example/#x', env],
  ['http://wallet.example/', production],
])('parseConfig rejects INTENT_WALLET_URL=%s', (walletUrl, environment) => {
  expect(settingsOf({ walletUrl }, environment)).toEqual(['walletUrl']);
  expect(settingsOf({}, { ...environment, INTENT_WALLET_URL: walletUrl })).toEqual(['INTENT_WALLET_URL']);
});

describe('a value from an option, which overrides its variable', () => {
  const variables = {
    INTENT_SEQUENCER_URL: url,
    INTENT_SEQUENCER_GRPC_URL: url,
    INTENT_EMULATOR_PORT: '4747',
    INTENT_VERIFIER_SECRET: key.secret,
    INTENT_DOMAIN: 'shop.example',
    INTENT_DESTINATION: destination,
    INTENT_ORIGIN: 'https://shop.example',
    INTENT_SECRET: 's'.repeat(32),
    INTENT_WEBHOOK_PUBLIC_KEY: key.publicKey,
    INTENT_WALLET_URL: 'https://wallet.example',
    INTENT_DATABASE_URL: 'postgres://localhost/shop',
  };

  it.each<[string, ConfigOptions, string]>([
    [
      'sequencerUrl',
      { sequencerUrl: 'x' },
      "sequencerUrl: '<base URL of your payment service>', or sequencerUrl: 'embedded' to try everything on this machine, without any key",
    ],
    ['grpcUrl', { grpcUrl: 'x://' }, "grpcUrl: '<gRPC URL of your payment service>'"],
    ['grpcUrl', { grpcUrl: 'a.example' }, "grpcUrl: 'https://a.example'"],
    ['emulator.port', { emulator: { port: -1 } }, 'emulator: { port: 4747 }'],
    [
      'verifierSecret',
      { verifierSecret: 'x' },
      'Correct the value, or use a secret that `npx express-intents keygen` prints.',
    ],
    ['domain', { domain: 'x' }, "domain: '<the registrable domain of the site, such as example.com, not localhost>'"],
    ['destination', { destination: 'x' }, "destination: '<the Base58 account that receives payments>'"],
    [
      'origin',
      { origin: 'x' },
      "origin: 'http://localhost:3000' (lower case, no default port, path or trailing slash)",
    ],
    ['secret', { secret: 'x' }, "secret: '<at least 32 random characters>'"],
    ['walletUrl', { walletUrl: 'x' }, "walletUrl: 'https://<the page that opens the wallet>'"],
    [
      'databaseUrl',
      { databaseUrl: 'mysql://x' },
      "databaseUrl: './ledger' for one process (npm install @electric-sql/pglite), or databaseUrl: 'postgres://...' for any number of processes (npm install pg)",
    ],
    [
      'webhookPublicKey',
      { webhook: true, webhookPublicKey: 'x' },
      "webhookPublicKey: '<the public key of your payment service, Base58; several, separated by commas>'",
    ],
  ])('is reported as `%s`, with a fix of the option: %j', (setting, options, fix) => {
    expect(problemsIn(options, variables)).toEqual([{ setting, problem: expect.any(String), fix }]);
  });

  it('is reported as empty, not as not set', () => {
    const problem = 'It is empty. Logins require the domain of the site.';
    expect(problemsIn({ domain: '' }, { ...env, INTENT_DOMIAN: 'x', INTENT_OTHER: 'y' })).toMatchObject([
      { setting: 'domain', problem },
    ]);
    const [empty] = problemsIn({ verifierSecret: '' });
    expect(empty).toMatchObject({ setting: 'verifierSecret', problem: 'It is empty. Logins need a verifier key.' });
    expect(empty?.fix).not.toContain('INTENT_');
  });
});

describe('a configuration problem', () => {
  const examples: [string, ConfigOptions, Environment, ConfigProblem][] = [
    [
      'no sequencer, in development',
      {},
      { ...env, INTENT_SEQUENCER_URL: '' },
      {
        setting: 'INTENT_SEQUENCER_URL',
        problem: 'It is not set.',
        fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>, or INTENT_SEQUENCER_URL=embedded to try everything on this machine, without any key',
      },
    ],
    [
      'no sequencer, in production',
      {},
      { ...production, INTENT_SEQUENCER_URL: '' },
      {
        setting: 'INTENT_SEQUENCER_URL',
        problem: 'It is not set.',
        fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>',
      },
    ],
    ...['sequencer.example', 'grpc://sequencer.example', 'Embedded', 'https://', 'localhost:4747'].map(
      (sequencerUrl): [string, ConfigOptions, Environment, ConfigProblem] => [
        `the sequencer ${sequencerUrl}`,
        {},
        { ...env, INTENT_SEQUENCER_URL: sequencerUrl },
        {
          setting: 'INTENT_SEQUENCER_URL',
          problem: 'It is not an http(s) URL.',
          fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>, or INTENT_SEQUENCER_URL=embedded to try everything on this machine, without any key',
        },
      ],
    ),
    ...['"embedded"', "'embedded'", ' embedded ', '" embedded "', ` "${url}"`, `'${url}'`].map(
      (sequencerUrl): [string, ConfigOptions, Environment, ConfigProblem] => [
        `the sequencer ${sequencerUrl}, with quotes or spaces`,
        {},
        { ...env, INTENT_SEQUENCER_URL: sequencerUrl },
        {
          setting: 'INTENT_SEQUENCER_URL',
          problem: 'It has quotes or spaces around the value.',
          fix: 'Remove the quotes and spaces.',
        },
      ],
    ),
    ...['"embedded"', 'sequencer.example'].map((sequencerUrl): [string, ConfigOptions, Environment, ConfigProblem] => [
      `the sequencer ${sequencerUrl}, in production`,
      {},
      { ...production, INTENT_SEQUENCER_URL: sequencerUrl },
      {
        setting: 'INTENT_SEQUENCER_URL',
        problem: 'It is not an http(s) URL.',
        fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>',
      },
    ]),
    ...['https://me@a.example', 'https://:pass@a.example', 'https://a.example?b', 'https://a.example#b'].map(
      (sequencerUrl): [string, ConfigOptions, Environment, ConfigProblem] => [
        `the sequencer ${sequencerUrl}`,
        {},
        { ...env, INTENT_SEQUENCER_URL: sequencerUrl },
        {
          setting: 'INTENT_SEQUENCER_URL',
          problem: 'It must not contain a user name, a password, a query or a fragment.',
          fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>',
        },
      ],
    ),
    [
      'a sequencer over http, in production',
      {},
      { ...production, INTENT_SEQUENCER_URL: 'http://sequencer.example' },
      {
        setting: 'INTENT_SEQUENCER_URL',
        problem: 'It must be https when NODE_ENV=production.',
        fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>',
      },
    ],
    [
      'the embedded sequencer, in production',
      {},
      { ...production, INTENT_SEQUENCER_URL: 'embedded' },
      {
        setting: 'INTENT_SEQUENCER_URL',
        problem:
          'The embedded sequencer moves no money and lets anyone log in, so it does not start with NODE_ENV=production.',
        fix: 'INTENT_SEQUENCER_URL=<base URL of your payment service>',
      },
    ],
    ...['x', '65536', '-1', '80.5', 'NaN'].map((port): [string, ConfigOptions, Environment, ConfigProblem] => [
      `the port ${port}`,
      {},
      { ...env, INTENT_EMULATOR_PORT: port },
      {
        setting: 'INTENT_EMULATOR_PORT',
        problem: 'It must be a whole number from 0 to 65535.',
        fix: 'INTENT_EMULATOR_PORT=4747',
      },
    ]),
    [
      'an unknown dialect',
      { dialect: 'grpc' as 'intents' },
      env,
      { setting: 'dialect', problem: "It must be 'intents' or 'messaging'.", fix: "dialect: 'intents' (the default)" },
    ],
    ...[0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31].map(
      (timeoutMs): [string, ConfigOptions, Environment, ConfigProblem] => [
        `a timeout of ${timeoutMs}`,
        { timeoutMs },
        env,
        {
          setting: 'timeoutMs',
          problem: 'It must be a whole number of milliseconds from 1 to 2147483647.',
          fix: 'timeoutMs: 8000',
        },
      ],
    ),
    [
      'an attempt timeout of 0',
      { attemptTimeoutMs: 0 },
      env,
      {
        setting: 'attemptTimeoutMs',
        problem: 'It must be a whole number of milliseconds from 1 to 2147483647.',
        fix: 'attemptTimeoutMs: 3000',
      },
    ],
    [
      'a login TTL of 0',
      { login: { ttlMs: 0 } },
      env,
      { setting: 'login.ttlMs', problem: expect.stringContaining('milliseconds'), fix: 'login: { ttlMs: 120000 }' },
    ],
    [
      'a login TTL of a century',
      { login: { ttlMs: 100 * 365 * 86_400_000 } },
      env,
      {
        setting: 'login.ttlMs',
        problem: 'It must be a whole number of milliseconds from 1 to 2147483647.',
        fix: 'login: { ttlMs: 120000 }',
      },
    ],
    [
      'an infinite session TTL',
      { login: { sessionTtlMs: Number.POSITIVE_INFINITY } },
      env,
      {
        setting: 'login.sessionTtlMs',
        problem: expect.stringContaining('milliseconds'),
        fix: 'login: { sessionTtlMs: 604800000 }',
      },
    ],
    [
      'no verifier key',
      {},
      { ...env, INTENT_VERIFIER_SECRET: '' },
      {
        setting: 'INTENT_VERIFIER_SECRET',
        problem: 'It is not set. Logins need a verifier key.',
        fix: 'Run `npx express-intents keygen`, and set INTENT_VERIFIER_SECRET to the secret that it prints. For payments only: intentRouter({ login: false }).',
      },
    ],
    [
      'an invalid verifier secret',
      {},
      { ...env, INTENT_VERIFIER_SECRET: 'hunter2' },
      {
        setting: 'INTENT_VERIFIER_SECRET',
        problem: expect.stringContaining('Entry 1 of 1 is not a secret key'),
        fix: 'Correct the value, or use a secret that `npx express-intents keygen` prints.',
      },
    ],
    [
      'no domain',
      {},
      { ...env, INTENT_DOMAIN: '' },
      {
        setting: 'INTENT_DOMAIN',
        problem: 'It is not set. Logins require the domain of the site.',
        fix: 'INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>',
      },
    ],
    ...['www.shop.example', 'https://shop.example', 'shop.example:443', 'localhost', 'com', 'Shop.example'].map(
      (domain): [string, ConfigOptions, Environment, ConfigProblem] => [
        `the domain ${domain} (interface 4.6)`,
        {},
        { ...env, INTENT_DOMAIN: domain },
        {
          setting: 'INTENT_DOMAIN',
          problem: expect.stringMatching(/Expected|Subdomains/),
          fix: 'INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>',
        },
      ],
    ),
    [
      'a destination that is not an account (interface 2.8)',
      {},
      { ...env, INTENT_DESTINATION: 'me' },
      {
        setting: 'INTENT_DESTINATION',
        problem: 'The value is not the Base58 form of 32 bytes. Copy the whole value again.',
        fix: 'INTENT_DESTINATION=<the Base58 account that receives payments>',
      },
    ],
    ...[
      'example.com',
      'https://example.com/',
      'https://example.com/shop',
      'HTTPS://example.com',
      'wss://a.example',
      'https://example.com:443',
      'https://Example.com',
    ].map((origin): [string, ConfigOptions, Environment, ConfigProblem] => [
      `the origin ${origin}`,
      {},
      { ...env, INTENT_ORIGIN: origin },
      {
        setting: 'INTENT_ORIGIN',
        problem: 'It is not an origin in the form that browsers send.',
        fix: 'INTENT_ORIGIN=http://localhost:3000 (lower case, no default port, path or trailing slash)',
      },
    ]),
    [
      'an origin over http, in production',
      {},
      { ...production, INTENT_ORIGIN: 'http://example.com' },
      {
        setting: 'INTENT_ORIGIN',
        problem: 'It must be https when NODE_ENV=production.',
        fix: 'INTENT_ORIGIN=https://example.com (lower case, no default port, path or trailing slash)',
      },
    ],
  ];

  it.each(examples)('is reported with its fix: %s', (_name, options, environment, problem) => {
    expect(problemsIn(options, environment)).toEqual([problem]);
  });

  it('is not reported for a valid configuration in production', () => {
    const config = parseConfig({ origin: 'https://example.com' }, production);
    expect(config).toMatchObject({ production: true, origin: 'https://example.com', notices: [] });
  });

  it('of the embedded sequencer in production is reported with the settings that a real service needs', () => {
    const environment = { NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'embedded' };
    expect(settingsOf({ webhook: true, origin: 'https://shop.example' }, environment)).toEqual([
      'INTENT_SEQUENCER_URL',
      'INTENT_VERIFIER_SECRET',
      'INTENT_DOMAIN',
      'INTENT_WEBHOOK_PUBLIC_KEY',
    ]);
  });

  it('is reported together with the others in one message', () => {
    const everything = {
      NODE_ENV: 'production',
      INTENT_EMULATOR_PORT: 'x',
      INTENT_DESTINATION: 'me',
      INTENT_ORIGIN: 'x',
    };
    const options = { dialect: 'x' as 'intents', timeoutMs: -1, routes: { intent: 'x' } };
    expect(settingsOf(options, everything)).toEqual([
      'INTENT_SEQUENCER_URL',
      'INTENT_EMULATOR_PORT',
      'dialect',
      'timeoutMs',
      'INTENT_VERIFIER_SECRET',
      'INTENT_DOMAIN',
      'INTENT_DESTINATION',
      'INTENT_ORIGIN',
      'routes.intent',
    ]);
    expect(() => parseConfig({}, {})).toThrow(
      expect.objectContaining({ name: 'ConfigError', code: 'invalid_configuration', status: 500 }),
    );
    expect(() => parseConfig({}, {})).toThrow(`express-intents cannot start:
  - INTENT_SEQUENCER_URL: It is not set.
    INTENT_SEQUENCER_URL=<base URL of your payment service>, or INTENT_SEQUENCER_URL=embedded to try everything on this machine, without any key
  - INTENT_VERIFIER_SECRET: It is not set. Logins need a verifier key.
    Run \`npx express-intents keygen\`, and set INTENT_VERIFIER_SECRET to the secret that it prints. For payments only: intentRouter({ login: false }).
  - INTENT_DOMAIN: It is not set. Logins require the domain of the site.
    INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>`);
  });

  it('contains no secret', () => {
    const secrets = {
      verifier: `${key.secret.slice(0, -1)}`,
      hex: 'abcdef0123456789'.repeat(4).slice(1),
      cookie: 'hunter2-hunter2-hunter2',
    };
    const file = fileOf('secret', `${secrets.hex}\n`);
    const attempts: [ConfigOptions, Environment][] = [
      [{}, { ...env, INTENT_VERIFIER_SECRET: secrets.verifier, INTENT_SECRET: secrets.cookie, INTENT_DOMAIN: '' }],
      [{ verifierSecret: `${key.secret},${secrets.verifier}`, secret: secrets.cookie }, env],
      [
        { verifierSecret: '', secret: secrets.cookie },
        { ...env, INTENT_VERIFIER_SECRET_FILE: file },
      ],
      // The secrets are valid, another setting is not.
      [{ timeoutMs: 0, secret: `${secrets.cookie}${secrets.cookie}` }, env],
    ];
    for (const [options, environment] of attempts) {
      const error = errorOf(() => parseConfig(options, environment));
      expect(error).toBeInstanceOf(ConfigError);
      const shown = [error.message, JSON.stringify(error), inspect(error, { depth: null, showHidden: true })].join(
        '\n',
      );
      for (const secret of [...Object.values(secrets), key.secret]) expect(shown).not.toContain(secret.slice(0, 12));
    }
  });
});

describe('the option routes', () => {
  it('renames and disables routes', () => {
    const { routes } = parseConfig({ routes: { intent: '/shop/pay-now', status: false, session: '/a.b~c_d' } }, env);
    expect(routes).toEqual({
      intent: '/shop/pay-now',
      status: false,
      events: '/intent',
      elements: '/intent/v1',
      webhook: '/intent/webhook',
      session: '/a.b~c_d',
      keyFile: '/.well-known/service-payments.json',
      openapi: '/intent/v1/openapi.json',
      health: false,
    });
  });

  it.each(['', '/', 'pay', '/pay/', '//pay', '/pay/:id', '/pay?x=1', '/pay#x', '/p ay', '/*', '/ä', true, 7, null])(
    'rejects the path %j',
    (path) => {
      expect(problemsIn({ routes: { intent: path as string } })).toEqual([
        {
          setting: 'routes.intent',
          problem: `${JSON.stringify(path)} is not allowed.`,
          fix: "Use segments of letters, digits and . _ ~ -, each after a slash, such as '/pay' or '/a/b'. Or use false.",
        },
      ]);
    },
  );

  it('rejects two routes with the same path, but not two disabled routes', () => {
    expect(problemsIn({ routes: { session: '/intent' } })).toEqual([
      {
        setting: 'routes.session',
        problem: 'It has the same path as `intent`, /intent.',
        fix: 'Give each route its own path, or disable one with false.',
      },
    ]);
    expect(problemsIn({ routes: { intent: '/session' } })).toMatchObject([
      { setting: 'routes.intent', problem: 'It has the same path as `session`, /session.' },
    ]);
    expect(problemsIn({ routes: { session: false, status: false } })).toEqual([]);
  });

  it('rejects an unknown name, because a typo would leave a route enabled', () => {
    expect(problemsIn({ routes: { keyfile: false } as ConfigOptions['routes'] & object })).toEqual([
      {
        setting: 'routes.keyfile',
        problem: 'Unknown option "keyfile".',
        fix: 'Did you mean "keyFile"? Valid options: intent, status, events, elements, webhook, session, keyFile, openapi, health.',
      },
    ]);
  });
});

describe('a variable with a typo in its name', () => {
  it('is reported once with the intended name', () => {
    const typos = { INTENT_DOMIAN: 'x', INTENTS_ORIGIN: 'x', INTENT_TRACKING: 'x', INTENT_SECRETS: undefined };
    const walletUrl = 'https://wallet.example/open';
    expect(parseConfig({ walletUrl }, { ...env, ...typos }).warnings).toEqual([
      'INTENT_DOMIAN is set but not used. If you mean INTENT_DOMAIN, rename it.',
      'INTENTS_ORIGIN is set but not used. If you mean INTENT_ORIGIN, rename it.',
    ]);
    expect(parseConfig({ walletUrl }, env).warnings).toEqual([]);
  });

  it('is a notice if it resembles no variable, because the app may read it', () => {
    const { warnings, notices } = parseConfig(
      { walletUrl: 'https://wallet.example' },
      { ...env, INTENT_SERVICE_KEY: 'x' },
    );
    expect(warnings).toEqual([]);
    expect(notices).toEqual([
      'INTENT_SERVICE_KEY is set, but express-intents does not read it. See docs/reference.md for the variables.',
    ]);
    const problems = problemsIn(
      { webhook: true },
      { ...env, INTENT_SERVICE_KEY: 'x', INTENT_ORIGIN: 'https://example.com' },
    );
    expect(problems).toMatchObject([
      { setting: 'INTENT_WEBHOOK_PUBLIC_KEY', problem: expect.stringContaining('INTENT_SERVICE_KEY is set, but') },
    ]);
  });

  it('is named in the problem of the missing variable', () => {
    const { INTENT_DOMAIN: INTENT_DOMIAN, ...others } = env;
    expect(problemsIn({}, { ...others, INTENT_DOMIAN })).toMatchObject([
      {
        setting: 'INTENT_DOMAIN',
        problem: expect.stringMatching(/ INTENT_DOMIAN is set and looks like a typo\. Rename it to INTENT_DOMAIN\.$/),
      },
    ]);
  });
});

describe('INTENT_SEQUENCER_URL=embedded', () => {
  it('needs no other setting, and logs the values it generates', () => {
    const config = parseConfig({}, embedded);
    expect(config).toMatchObject({ production: false, sequencer: { url: 'embedded', emulatorPort: 4747 } });
    expect(config.login?.domain).toBe('shop.example');
    expect(config.login?.cookieKeys).toHaveLength(1);
    expect(bs58.decode(config.destination ?? '')).toHaveLength(32);
    expect(config.notices).toEqual([
      'INTENT_VERIFIER_SECRET is not set. A key is generated at each start, so restarting logs everyone out.',
      'INTENT_DOMAIN is not set. Logins use shop.example.',
    ]);
  });

  it('says that a restart logs everyone out only if the cookies depend on the generated key', () => {
    const withSecret = { ...embedded, INTENT_SECRET: 'x'.repeat(32) };
    expect(parseConfig({}, withSecret).notices).toContain(
      'INTENT_VERIFIER_SECRET is not set. A key is generated at each start.',
    );
  });

  it('pays to the same account at each start, so that the idempotency keys of createPayment stay valid', () => {
    expect(parseConfig({}, embedded).destination).toBe(parseConfig({}, embedded).destination);
  });

  it('generates another key at each start', () => {
    const [one, other] = [loginOf(parseConfig({}, embedded)), loginOf(parseConfig({}, embedded))];
    expect(one.keyRing.publicKeys).not.toEqual(other.keyRing.publicKeys);
    expect(one.cookieKeys).not.toEqual(other.cookieKeys);
  });

  it('uses the configured settings and logs nothing', () => {
    const config = parseConfig({ destination }, { ...env, ...embedded });
    expect(config.notices).toEqual([]);
    expect(config.destination).toBe(destination);
    expect(config.login?.keyRing.publicKeys).toEqual([key.publicKey]);
    expect(parseConfig({ login: false }, embedded).notices).toEqual([]);
  });
});

it('throws an error that prints its problems once and has them as a property', () => {
  let thrown: unknown;
  try {
    parseConfig({}, {});
  } catch (error) {
    thrown = error;
  }
  expect(inspect(thrown).match(/INTENT_DOMAIN: /g)).toHaveLength(1);
  expect((thrown as ConfigError).problems).toHaveLength(3);
});

function errorOf(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}
