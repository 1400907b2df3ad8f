import { hkdfSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import bs58 from 'bs58';
import { type Config, parseConfig } from '../../src/config/config.js';
import type { ConfigOptions } from '../../src/config/config-options.js';
import type { Environment } from '../../src/config/variables.js';
import { ConfigError, createSigner, generateKeyPair, type Signer } from '../../src/index.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { mergeOptions } from '../support/sites/site.js';

const key = generateKeyPair();
const oldKey = generateKeyPair();
const destination = generateKeyPair().publicKey;
const base64Of = (account: string): string => Buffer.from(bs58.decode(account)).toString('base64');
const url = 'https://sequencer.example';
/** The required settings of a site with logins. */
const env = { INTENT_SEQUENCER_URL: url, INTENT_VERIFIER_SECRET: key.secret, INTENT_DOMAIN: 'shop.example' };
const { INTENT_VERIFIER_SECRET: _, ...withoutKey } = env;
const production = { ...env, NODE_ENV: 'production' };
const simulated = { NODE_ENV: 'test', INTENT_SEQUENCER_URL: 'simulator' };
const transport = { call: async () => new Uint8Array(), close: async () => undefined };
const postgres = 'postgres://shop:hunter2@db.example/shop';

function fileOf(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Options and environment with one setting: a variable, or an option by its path, such as `login.ttlMs`. */
function withSetting(setting: string, value: unknown, environment: Environment = env): [ConfigOptions, Environment] {
  if (/^[A-Z]/.test(setting)) return [{}, { ...environment, [setting]: value as string }];
  const options = setting.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return [options as ConfigOptions, environment];
}

/** Each problem on one line: the setting, the problem and its fix. */
const problemsIn = (options: ConfigOptions, environment: Environment = env): string[] =>
  problemsOf(() => parseConfig(options, environment)).map(
    ({ setting, problem, fix }) => `${setting}: ${problem} ${fix}`,
  );

const settingsIn = (options: ConfigOptions, environment?: Environment): string[] =>
  problemsIn(options, environment).map((problem) => problem.split(':')[0] ?? '');

function loginOf(config: Config): NonNullable<Config['login']> {
  if (!config.login) throw new Error('Logins are off.');
  return config.login;
}

const derived = (secret: Uint8Array | string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'express-intents cookies v1 for shop.example', 32));
const seedOf = (secret: string): Uint8Array => bs58.decode(secret);

test('parseConfig has defaults for everything except the service, the verifier key and the domain', () => {
  const config = parseConfig({}, env);
  expect(config).toMatchObject({
    production: false,
    sequencer: { url, simulatorPort: 4747, dialect: 'intents', timeoutMs: 8_000 },
    login: { domain: 'shop.example', ttlMs: 120_000, sessionTtlMs: 604_800_000, keepSession: [] },
    destination: undefined,
    origin: undefined,
    webhook: undefined,
    ledger: undefined,
    returnOrigins: [],
    limits: {
      streams: { perBrowser: 3, perAddress: 20, perProcess: 5_000 },
      requests: { intent: 120, session: 120, status: 3_000, webhook: 600 },
      store: undefined,
    },
    routes: { intent: '/intent', status: '/status', session: '/session', health: false },
    notices: [],
  });
  const { keyRing, cookieKeys } = loginOf(config);
  expect(keyRing.publicKeys).toEqual([key.publicKey]);
  expect(cookieKeys).toEqual([derived(seedOf(key.secret))]);
  expect(parseConfig({}, { ...env, INTENT_DATABASE_URL: postgres }).ledger).toEqual({
    database: { kind: 'postgres', url: postgres },
    migrate: true,
    settleDelayMs: 0,
    watchMs: 2_592_000_000,
    reversalWatchMs: 86_400_000,
    settlementConcurrency: 24,
    hookAttempts: 15,
    hookTimeoutMs: 30_000,
    lateAfterMs: 900_000,
  });
});

const century = 36_500 * 86_400_000;
const store = { increment: () => ({ totalHits: 1, resetTime: undefined }), decrement: () => {}, resetKey: () => {} };
const withLedger = { ...env, INTENT_DATABASE_URL: postgres };
/** The value itself is expected. */
const same = Symbol('same');

describe('parseConfig reads', () => {
  const grpcUrl = ({ sequencer }: Config) => sequencer.grpcUrl;
  const simulatorPort = ({ sequencer }: Config) => sequencer.simulatorPort;
  const simulatorState = ({ sequencer }: Config) => sequencer.simulatorState;
  const database = ({ ledger }: Config) => ledger?.database;
  const cookieKeys = ({ login }: Config) => login?.cookieKeys;

  test.each<[setting: string, value: unknown, read: (config: Config) => unknown, expected: unknown, Environment?]>([
    ['INTENT_SEQUENCER_URL', 'http://127.0.0.1:9/base', ({ sequencer }) => sequencer.url, same],
    ['sequencer.url', 'https://b.example', ({ sequencer }) => sequencer.url, same],
    ['INTENT_SEQUENCER_GRPC_URL', 'https://grpc.example:8443/', grpcUrl, same, production],
    ['INTENT_SEQUENCER_GRPC_URL', 'http://[::1]:4748', grpcUrl, same, production],
    ['INTENT_SEQUENCER_GRPC_URL', 'http://grpc.example:4748', grpcUrl, same],
    ['sequencer.grpcUrl', '', grpcUrl, undefined, { INTENT_SEQUENCER_GRPC_URL: url }],
    ['INTENT_SIMULATOR_PORT', '0', simulatorPort, 0],
    ['INTENT_SIMULATOR_PORT', '', simulatorPort, 4747],
    ['simulator.port', 0, simulatorPort, 0, { INTENT_SIMULATOR_PORT: '5000' }],
    ['INTENT_SIMULATOR_STATE', './state.jsonl', simulatorState, same, { INTENT_DATABASE_URL: './ledger' }],
    ['INTENT_SIMULATOR_STATE', 'memory', simulatorState, undefined, { INTENT_DATABASE_URL: './ledger' }],
    ['INTENT_SIMULATOR_STATE', '', simulatorState, 'ledger/simulator.jsonl', { INTENT_DATABASE_URL: './ledger' }],
    ['INTENT_SIMULATOR_STATE', '', simulatorState, undefined, { INTENT_DATABASE_URL: postgres }],
    ['simulator.stateFile', './b', simulatorState, same, { INTENT_SIMULATOR_STATE: './a' }],
    ['login.verifierSecret', oldKey.secret, ({ login }) => login?.keyRing.publicKeys, [oldKey.publicKey]],
    ['login.domain', 'example.co.uk', ({ login }) => login?.domain, same],
    ['INTENT_DESTINATION', destination, (config) => config.destination, same],
    ['INTENT_DESTINATION', base64Of(destination), (config) => config.destination, destination],
    ['destination', base64Of(destination), (config) => config.destination, destination],
    ['INTENT_DESTINATION', '', (config) => config.destination, undefined],
    ['destination', destination, (config) => config.destination, same, { INTENT_DESTINATION: key.publicKey }],
    ['INTENT_ORIGIN', 'http://localhost:3000', ({ origin }) => origin, same],
    ['origin', 'https://a.example', ({ origin }) => origin, same, { INTENT_ORIGIN: 'https://b.example' }],
    [
      'button.returnOrigins',
      ['https://a.example', 'http://localhost:3000'],
      ({ returnOrigins }) => returnOrigins,
      same,
    ],
    ['button.name', 'Tea House', ({ button }) => button.name, same],
    ['button.logo', '/logo.svg?v=2', ({ button }) => button.logo, same],
    ['button.logo', 'https://cdn.example/logo.svg', ({ button }) => button.logo, same],
    [
      'button.accent',
      '#Fc0',
      ({ button }) => button.element.css,
      ':host{--_accent:var(--intent-accent,#Fc0);--_on-accent:var(--intent-on-accent,#112)}',
    ],
    ['button.help', { url: '/wallets' }, ({ button }) => button.help, same],
    ['button.help', { url: 'http://a.example/', label: 'Wallets' }, ({ button }) => button.help, same],
    [
      'button.texts',
      { en: { paid: 'Thanks!', busy: 'Wait' } },
      ({ button }) => button.dialogTexts,
      { en: { paid: 'Thanks!' } },
    ],
    ['button.texts', { ar: { paid: '!' } }, ({ button }) => button.element.texts, { ar: {} }],
    ['INTENT_WALLET_URL', 'http://127.0.0.1:4747/wallet?a=1', ({ walletUrl }) => walletUrl, same],
    ['INTENT_SECRET', 's'.repeat(32), cookieKeys, [derived('s'.repeat(32))]],
    ['INTENT_SECRET', '', cookieKeys, [derived(seedOf(key.secret))]],
    ['secret', 'a'.repeat(32), cookieKeys, [derived('a'.repeat(32))], { INTENT_SECRET: 'b'.repeat(32) }],
    ['NODE_ENV', 'production', (config) => config.production, true],
    ['NODE_ENV', 'development', (config) => config.production, false],
    ['sequencer.dialect', 'messaging', ({ sequencer }) => sequencer.dialect, same],
    ['sequencer.timeoutMs', 2_147_483_647, ({ sequencer }) => sequencer.timeoutMs, same],
    ['login.ttlMs', 60_000, ({ login }) => login?.ttlMs, same],
    // A year exceeds the maximum of a timer, which this setting does not use.
    ['login.sessionTtlMs', 31_536_000_000, ({ login }) => login?.sessionTtlMs, same],
    ['login.keepSession', ['basket', 'passport'], ({ login }) => login?.keepSession, same],
    ['login', true, ({ login }) => login?.domain, 'shop.example'],
    ['login', false, ({ login }) => login, undefined],
    ['limits.streams.perBrowser', undefined, ({ limits }) => limits.streams.perBrowser, 3],
    ['limits.streams.perAddress', 1, ({ limits }) => limits.streams.perAddress, same],
    ['limits.requests.status', 5, ({ limits }) => limits.requests?.status, same],
    ['limits.store', store, ({ limits }) => limits.store, same],
    ['limits.requests', false, ({ limits }) => limits.requests, undefined],
    ['ledger.url', '', ({ ledger }) => ledger, undefined, withLedger],
    ['ledger', false, ({ ledger }) => ledger, undefined, withLedger],
    ['ledger.url', 'postgres:///shop?host=/run/postgresql', database, { kind: 'postgres', url: same }, withLedger],
    ['ledger.url', 'postgres://shop@/shop?host=/run/postgresql', database, { kind: 'postgres', url: same }],
    ['ledger.url', 'postgres://db/shop?user=shop@server&password=p@ss', database, { kind: 'postgres', url: same }],
    ['ledger.url', 'postgres://shop%40server:p%40ss%2F@db:5432/shop', database, { kind: 'postgres', url: same }],
    ['ledger.url', 'postgres://shop:p@ss@db/shop', database, { kind: 'postgres', url: same }],
    ['ledger.url', './a folder with spaces', database, { kind: 'embedded', folder: same }],
    ['ledger.url', 'C:\\ledger', database, { kind: 'embedded', folder: same }],
    ['ledger.url', './a:b', database, { kind: 'embedded', folder: same }],
    ['ledger.settleDelayMs', century, ({ ledger }) => ledger?.settleDelayMs, same, withLedger],
    ['ledger.watch.unpaidMs', century, ({ ledger }) => ledger?.watchMs, same, withLedger],
    ['ledger.watch.settledMs', 0, ({ ledger }) => ledger?.reversalWatchMs, same, withLedger],
    ['ledger.hookLimits.maxAttempts', 3, ({ ledger }) => ledger?.hookAttempts, same, withLedger],
    ['ledger.hookLimits.timeoutMs', 5_000, ({ ledger }) => ledger?.hookTimeoutMs, same, withLedger],
    ['ledger.migrate', false, ({ ledger }) => ledger?.migrate, same, withLedger],
  ])('%s: %j', (setting, value, read, expected, more = {}) => {
    const found = read(parseConfig(...withSetting(setting, value, { ...env, ...more })));
    if (expected === same) expect(found).toEqual(value);
    else if (typeof expected !== 'object') expect(found).toBe(expected);
    else
      expect(Object.values(found as object)).toEqual(
        Object.values(expected ?? {}).map((one) => (one === same ? value : one)),
      );
  });

  test.each<[name: string, value: string, read: (config: Config) => unknown]>([
    ['INTENT_SEQUENCER_URL', url, ({ sequencer }) => sequencer.url],
    ['INTENT_SEQUENCER_GRPC_URL', 'https://grpc.example', grpcUrl],
    ['INTENT_SIMULATOR_STATE', './state.jsonl', simulatorState],
    ['INTENT_DOMAIN', 'shop.example', ({ login }) => login?.domain],
    ['INTENT_DESTINATION', destination, (config) => config.destination],
    ['INTENT_ORIGIN', 'https://shop.example', ({ origin }) => origin],
    ['INTENT_WALLET_URL', 'https://wallet.example/open', ({ walletUrl }) => walletUrl],
    ['INTENT_DATABASE_URL', './ledger', (config) => Object.values(database(config) ?? {}).at(-1)],
  ])('%s without whitespace around its value', (name, value, read) => {
    expect(read(parseConfig({}, { ...env, [name]: ` ${value}\r\n` }))).toBe(value);
  });

  test('a variable of whitespace as not set, and NODE_ENV with whitespace as production with a warning', () => {
    expect(parseConfig({}, { ...env, INTENT_DATABASE_URL: '\n', INTENT_ORIGIN: ' ' })).toMatchObject({
      ledger: undefined,
      origin: undefined,
    });
    const { production: isOn, warnings } = parseConfig(
      { button: { walletUrl: url }, login: false },
      { ...env, NODE_ENV: 'production ' },
    );
    expect(isOn).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/^NODE_ENV is "production ".* Express.* Set NODE_ENV=production/)]);
  });

  test('process.env by default', () => {
    const before = process.env.INTENT_DOMAIN;
    process.env.INTENT_DOMAIN = 'from-the-process.example';
    try {
      expect(parseConfig({ sequencer: { url }, login: { verifierSecret: key.secret } }).login?.domain).toMatch(
        /^from-the-process/,
      );
    } finally {
      if (before === undefined) delete process.env.INTENT_DOMAIN;
      else process.env.INTENT_DOMAIN = before;
    }
  });

  test('no setting of logins with login: false', () => {
    const broken = { ...env, INTENT_VERIFIER_SECRET: 'x', INTENT_DOMAIN: 'x/y' };
    expect(settingsIn({ login: false }, broken)).toEqual([]);
    expect(settingsIn({}, broken)).toEqual(['INTENT_VERIFIER_SECRET', 'INTENT_DOMAIN']);
  });

  test('no sequencer URL with a transport or a gRPC URL, but checks one that is set', () => {
    for (const other of [{ transport }, { grpcUrl: 'https://grpc.example' }]) {
      expect(parseConfig({ sequencer: { ...other, url: '' } }, env).sequencer.url).toBe('');
      expect(settingsIn({ sequencer: { ...other, url: 'nonsense' } })).toEqual(['sequencer.url']);
    }
  });
});

const webhook = { webhook: true, origin: 'https://shop.example' };

/** Values of one setting that are rejected with the same problem. The fix follows the problem. */
const rejected: [
  setting: string,
  values: unknown[],
  problem: RegExp,
  environment?: Environment,
  base?: ConfigOptions,
][] = [
  ['INTENT_SEQUENCER_URL', [''], /It is not set\. INTENT_SEQUENCER_URL=<base URL .*=simulator to try/],
  ['INTENT_SEQUENCER_URL', [''], /It is not set\. INTENT_SEQUENCER_URL=<base URL of the sequencer>$/, production],
  ['INTENT_SEQUENCER_URL', ['a.example', 'grpc://a.example', 'Embedded', 'https://', 'localhost:4747'], /not an http/],
  ['INTENT_SEQUENCER_URL', ['"simulator"', `" ${url}"`, `'${url}'`], /It has quotes around/],
  ['INTENT_SEQUENCER_URL', ['a.example'], /not an http\(s\) URL\. [^,]*$/, production],
  ['INTENT_SEQUENCER_URL', ['https://me@a.example', 'https://:pass@a.example'], /must not contain a user name/],
  ['INTENT_SEQUENCER_URL', ['https://a.example?b', 'https://a.example/#b'], /must not contain a user name/],
  ['INTENT_SEQUENCER_URL', ['http://a.example'], /must be https when NODE_ENV=production/, production],
  ['INTENT_SEQUENCER_URL', ['simulator'], /moves no money and lets anyone log in/, production],
  [
    'INTENT_SEQUENCER_GRPC_URL',
    ['a.example:443'],
    /has no scheme.* INTENT_SEQUENCER_GRPC_URL=https:\/\/a.example:443$/,
  ],
  ['INTENT_SEQUENCER_GRPC_URL', ['a.example', 'localhost:4748'], /has no scheme/],
  ['INTENT_SEQUENCER_GRPC_URL', ['grpc://a.example', 'dns:///a.example:443', 'https://'], /not an http\(s\) URL/],
  ['INTENT_SEQUENCER_GRPC_URL', ['https://me@a.example', 'https://:pass@a.example'], /must not contain a user name/],
  ['INTENT_SEQUENCER_GRPC_URL', ['https://a.example/v1', 'https://a.example?a'], /must not contain a user name/],
  ['INTENT_SEQUENCER_GRPC_URL', ['http://a.example:1', 'http://localhost.example'], /must be https/, production],
  ['INTENT_SEQUENCER_GRPC_URL', ['simulator'], /does not speak gRPC.*--grpc-port/],
  ['INTENT_SEQUENCER_GRPC_URL', ['https://a.example'], /does not speak gRPC.*--grpc-port/, { ...env, ...simulated }],
  ['INTENT_SIMULATOR_PORT', ['x', '65536', '-1', '80.5', 'NaN'], /a whole number from 0 to 65535/],
  ['sequencer.dialect', ['grpc'], /It must be 'intents' or 'messaging'/],
  [
    'sequencer.timeoutMs',
    [0, -1, 0.5, Number.NaN, Infinity, 2 ** 31],
    /milliseconds from 1 to 2147483647\. sequencer: { timeoutMs: 8000 }$/,
  ],
  ['login.ttlMs', [0, century], /milliseconds from 1 to 2147483647\. login: { ttlMs: 120000 }$/],
  ['login.sessionTtlMs', [Infinity], /milliseconds/],
  ['login.keepSession', [['basket', 'intentUser'], ['cookie']], /(intentUser|cookie) cannot be kept/],
  ['INTENT_VERIFIER_SECRET', [''], /It is not set.*`npx express-intents keygen`.*login: false/],
  ['INTENT_VERIFIER_SECRET', ['hunter2'], /Entry 1 of 1 is not a secret key/],
  ['INTENT_DOMAIN', [''], /It is not set.* INTENT_DOMAIN=<the registrable domain/],
  [
    'INTENT_DOMAIN',
    ['www.shop.example', 'https://shop.example', 'localhost', 'com'],
    /(Expected|Subdomains).* INTENT_D/,
  ],
  ['INTENT_DESTINATION', ['me'], /not the Base58 or Base64 form of 32 bytes/],
  ['INTENT_ORIGIN', ['example.com', 'https://example.com/', 'HTTPS://example.com'], /not an origin.*localhost:3000/],
  ['INTENT_ORIGIN', ['wss://a.example', 'https://example.com:443', 'https://Example.com'], /not an origin/],
  ['INTENT_ORIGIN', ['http://example.com'], /must be https.* INTENT_ORIGIN=https:/, production],
  [
    'button.returnOrigins',
    [['https://shop.example', 'https://shop.example/path']],
    /"https:.*path": It is not an origin/,
  ],
  ['button.returnOrigins', [['https://*.shop.example'], ['shop.example'], ['null'], ['*'], ['']], /not an origin/],
  ['button.returnOrigins', [['http://shop.example']], /must be https/, production],
  ['button.name', ['', ' ', 'a\nb', '\u202eabc', 'a'.repeat(61)], /not one line of 1 to 60 characters/],
  ['button.logo', ['logo.svg', '//cdn.example/a.svg', 'http://cdn.example/a.svg', 'data:,'], /neither a path/],
  ['button.accent', ['red', '#12345', '#11 4', '#fff;}body{x:y'], /not a color/],
  [
    'button.help',
    [{ url: 'javascript:alert(1)' }, { url: '//a.example' }, { url: 'ftp://a.example' }, {}],
    /http\(s\) URL/,
  ],
  ['button.texts.en.ask', ['Continue?'], /not a text with \{user\}/],
  ['button.texts.en.paid', ['', 5], /It is not a text/],
  ['button.texts.en.payed', ['Thanks'], /Did you mean "paid"/],
  ['button.texts.de-AT', [{}], /not a language alone/],
  ['button.texts', [{ en: { paid: 'x'.repeat(6_000) } }], /The limit is 4500/],
  ['INTENT_WALLET_URL', ['javascript:alert(1)', 'wallet.example', '/wallet', 'https://'], /not an http\(s\) URL/],
  ['INTENT_WALLET_URL', ['https://wallet.example/#', 'https://wallet.example/#x'], /has a fragment/],
  ['INTENT_WALLET_URL', ['http://wallet.example/'], /must be https/, production],
  ['secret', [' '.repeat(40)], /It is shorter than 32 characters/],
  ['INTENT_SECRET', ['short', '3'.repeat(31)], /It is shorter than 32 characters\. INTENT_SECRET=</],
  ['INTENT_SECRET', [`${'3'.repeat(32)},short`], /Entry 2 of 2 is shorter/],
  ['INTENT_SECRET', [`${'3'.repeat(32)},`], /Entry 2 of 2 is empty/],
  [
    'limits.streams.perProcess',
    [0, -1, 1.5, Number.NaN, Infinity, '5', true],
    /It must be a whole number of at least 1/,
  ],
  ['limits.streams.perbrowser', [1], /Unknown option.*"perBrowser"/],
  ['limits.requests.session', [0, -1, 1.5, Number.NaN, Infinity, '5', true], /It must be a whole number of at least 1/],
  ['limits.store', [null, {}, { increment: () => 1 }, 'redis'], /must have the methods increment/],
  ['limits.requests.intents', [1], /Unknown option.*"intent"/],
  ['webhook.publicKeys', [['nonsense'], [generateKeyPair().secret.slice(0, 20)]], /not the Base58 form/, env, webhook],
  [
    'webhook.publicKeys',
    [
      [destination, 'nonsense'],
      [destination, ''],
    ],
    /Entry 2 of 2: The key/,
    env,
    webhook,
  ],
  ['routes.intent', ['', '/', 'pay', '/pay/', '//pay', '/pay/:id', '/pay?x', '/p ay', '/*', true], /not allowed\. Use/],
  ['routes.session', ['/intent'], /It has the same path as `intent`, \/intent\./],
  ['routes.intent', ['/session'], /It has the same path as `session`, \/session\./],
  ['routes.keyfile', [false], /Unknown option.*"keyFile"/],
  ['ledger.url', ['mysql://shop@db/shop', 'sqlite:./a.db', 'file:///a', 'POSTGRES://x/y'], /neither a URL that begins/],
  ['ledger.url', [':memory:', 'h2:mem', '127.0.0.1:5432/shop', 'shop@db:5432/shop'], /neither a URL that begins/],
  ['INTENT_DATABASE_URL', ['"/data/ledger"', `'${postgres}'`], /It has quotes around/],
  ['ledger.url', ['"/data/ledger"', ' ./ledger', './ledger\n', `${postgres}"`], /has quotes or spaces around/],
  ['INTENT_SECRET', [`"${'s'.repeat(32)}"`], /It has quotes around the value\. Remove/],
  ['INTENT_SIMULATOR_STATE', ['"./state.jsonl"'], /It has quotes around/],
  ['button.walletUrl', ['https://wallet.example/\n', ' https://wallet.example/'], /not an http\(s\) URL/],
  ['INTENT_DATABASE_URL', ['./ledger'], /but not a power failure.*allowFolderInProduction: true/, production],
  [
    'ledger.settleDelayMs',
    [-1, 0.5, century + 1],
    /milliseconds from 0 to 3153600000000\. ledger: { settleDelayMs: 0 }$/,
  ],
  ['ledger.watch.unpaidMs', [0, Number.NaN, century + 1], /milliseconds from 1 to 3153600000000/],
  ['ledger.watch.settledMs', [-5], /milliseconds/],
  ['ledger.watch.unpaid', [5], /Unknown option/],
  ['ledger.hookLimits.maxAttempts', [0, 2.5, 1_001], /whole number from 1 to 1000/],
  ['ledger.hookLimits.timeoutMs', [2 ** 31], /milliseconds/],
];

describe('parseConfig rejects', () => {
  type Case = [setting: string, value: unknown, problem: RegExp, environment?: Environment, base?: ConfigOptions];
  const cases = rejected.flatMap(([setting, values, ...rest]) =>
    values.map((value): Case => [setting, value, ...rest]),
  );
  test.each<Case>(cases)('%s: %j', (setting, value, problem, environment = env, base = {}) => {
    const [options, variables] = withSetting(setting, value, environment);
    expect(problemsIn(mergeOptions([base, options]), variables)).toEqual([expect.stringMatching(problem)]);
    expect(settingsIn(mergeOptions([base, options]), variables)).toEqual([setting]);
  });

  test.each([
    'postgres://shop:hunter2@[db/shop',
    'postgres://shop:12345/hunter2@db/shop',
    'postgres://shop:12345#hunter2@db/shop',
    'postgres://shop:12345?a=hunter2@db/shop',
    'postgres://shop:hunter2@12345?2@db/shop',
  ])('the database URL %s, and does not show its password', (databaseUrl) => {
    const problems = problemsIn({ ledger: { url: databaseUrl } });
    expect(problems).toEqual([expect.stringMatching(/^ledger\.url: It is not a valid URL\. .*percent-encode/)]);
    expect(problems.join()).not.toMatch(/hunter2|12345@/);
  });

  test.each<[setting: string, value: string, fix: string]>([
    [
      'sequencer.url',
      'x',
      "sequencer: { url: '<base URL of the sequencer>' }, or sequencer: { url: 'simulator' } to try",
    ],
    ['sequencer.grpcUrl', 'a.example', "sequencer: { grpcUrl: 'https://a.example' }"],
    ['secret', 'x', "secret: '<at least 32 random characters>'"],
    ['ledger.url', 'mysql://x', "ledger: { url: 'postgres://...' } for any number of processes"],
    [
      'login.domain',
      '',
      "It is empty. Logins require the domain of the site. login: { domain: '<the registrable domain",
    ],
    ['login.verifierSecret', '', 'It is empty. Logins need a verifier key.'],
  ])('an option with a fix for the option, not for its variable: %s: %j', (setting, value, fix) => {
    const [problem, ...more] = problemsIn(...withSetting(setting, value, env));
    expect(problem).toContain(fix);
    expect([problem, ...more].join()).not.toContain('INTENT_');
  });

  test('all problems together, in one error that prints each once', () => {
    const options = { sequencer: { dialect: 'x' as 'intents', timeoutMs: -1 }, routes: { intent: 'x' } };
    const variables = { NODE_ENV: 'production', INTENT_SIMULATOR_PORT: 'x', INTENT_ORIGIN: 'x' };
    expect(settingsIn(options, variables)).toEqual([
      ...[
        'INTENT_SEQUENCER_URL',
        'INTENT_SIMULATOR_PORT',
        'sequencer.dialect',
        'sequencer.timeoutMs',
        'INTENT_VERIFIER_SECRET',
      ],
      ...['INTENT_DOMAIN', 'INTENT_ORIGIN', 'routes.intent'],
    ]);
    const error = errorOf(() => parseConfig({}, {}));
    expect(error).toMatchObject({ name: 'ConfigError', code: 'invalid_configuration', status: 500 });
    expect(inspect(error).match(/INTENT_DOMAIN: /g)).toHaveLength(1);
  });

  test('the simulator in production together with the settings that the real sequencer needs', () => {
    const environment = { NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'simulator' };
    const needed = ['INTENT_SEQUENCER_URL', 'INTENT_VERIFIER_SECRET', 'INTENT_DOMAIN', 'INTENT_WEBHOOK_PUBLIC_KEY'];
    expect(settingsIn(webhook, environment)).toEqual(needed);
    expect(settingsIn({}, production)).toEqual([]);
    expect(settingsIn({ ledger: { url: './ledger', allowFolderInProduction: true } }, production)).toEqual([]);
    expect(settingsIn({ ledger: { url: postgres } }, production)).toEqual([]);
  });

  test('secrets without showing them', () => {
    const secrets = { verifier: key.secret.slice(0, -1), hex: 'abcdef0123456789'.repeat(4).slice(1) };
    const cookie = 'hunter2-hunter2-hunter2';
    const attempts: [ConfigOptions, Environment][] = [
      [{}, { ...env, INTENT_VERIFIER_SECRET: secrets.verifier, INTENT_SECRET: cookie, INTENT_DOMAIN: '' }],
      [{ login: { verifierSecret: `${key.secret},${secrets.verifier}` }, secret: cookie }, env],
      [{ secret: cookie }, { ...withoutKey, INTENT_VERIFIER_SECRET_FILE: fileOf('secret', `${secrets.hex}\n`) }],
      // The secrets are valid, another setting is not.
      [{ sequencer: { timeoutMs: 0 }, secret: `${cookie}${cookie}` }, env],
    ];
    for (const [options, environment] of attempts) {
      const error = errorOf(() => parseConfig(options, environment));
      expect(error).toBeInstanceOf(ConfigError);
      const shown = `${error.message}${JSON.stringify(error)}${inspect(error, { depth: null, showHidden: true })}`;
      for (const secret of [...Object.values(secrets), cookie, key.secret])
        expect(shown).not.toContain(secret.slice(0, 12));
    }
  });
});

describe('verifier keys (interface 2.7, 5.3)', () => {
  const both = `${key.secret}, ${oldKey.secret}`;

  test('rotate: the first key signs, and all are published and decrypt cookies', () => {
    const { keyRing, cookieKeys } = loginOf(parseConfig({}, { ...env, INTENT_VERIFIER_SECRET: both }));
    expect(keyRing.signer.publicKey).toBe(key.publicKey);
    expect(keyRing.publicKeys).toEqual([key.publicKey, oldKey.publicKey]);
    expect(cookieKeys).toEqual([derived(seedOf(key.secret)), derived(seedOf(oldKey.secret))]);
    const [first, second] = ['1'.repeat(32), '2'.repeat(64)] as const;
    const withSecrets = loginOf(parseConfig({ secret: `${first} , ${second}` }, env));
    expect(withSecrets.cookieKeys).toEqual([derived(first), derived(second)]);
  });

  test.each([
    ['several lines', `${key.secret}\r\n\n${oldKey.secret}\n`, [key.publicKey, oldKey.publicKey]],
    ['commas', both, [key.publicKey, oldKey.publicKey]],
    ['the output of keygen', `# Signs, keep it.\n# A comment\nINTENT_VERIFIER_SECRET=${key.secret}\n`, [key.publicKey]],
  ])('are read from a file of %s', (name, text, publicKeys) => {
    const config = parseConfig({}, { ...withoutKey, INTENT_VERIFIER_SECRET_FILE: fileOf(name, text) });
    expect(loginOf(config).keyRing.publicKeys).toEqual(publicKeys);
  });

  test.each([
    ['missing', () => join(temporaryFolder(), 'missing'), /cannot be read \(ENOENT\)/],
    ['a folder', temporaryFolder, /cannot be read \(EISDIR\)/],
    ['blank', () => fileOf('blank', ' \n\n'), /There is no verifier key/],
    ['not of secrets', () => fileOf('wrong', `${key.secret}\nhunter2\n`), /Entry 2 of 2 is not a secret key/],
    [
      'of another variable',
      () => fileOf('other', `INTENT_SECRET=${key.secret}\n`),
      /Entry 1 of 1 begins with the name/,
    ],
  ])('from a file that is %s are a problem of the file', (_name, path, problem) => {
    const problems = problemsIn({}, { ...withoutKey, INTENT_VERIFIER_SECRET_FILE: path() });
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).toMatch(/^INTENT_VERIFIER_SECRET_FILE: .*path of a readable file/);
  });

  test('in a variable or an option and in a file at the same time are rejected', () => {
    const file = { INTENT_VERIFIER_SECRET_FILE: fileOf('second', oldKey.secret) };
    expect(problemsIn({}, { ...env, ...file })).toEqual([
      'INTENT_VERIFIER_SECRET: INTENT_VERIFIER_SECRET_FILE is set too. Unset one of them.',
    ]);
    expect(settingsIn({ login: { verifierSecret: oldKey.secret } }, { ...withoutKey, ...file })).toEqual([
      'login.verifierSecret',
    ]);
  });

  test('are published together with the key of a signer, which signs instead of the first', () => {
    const signer = createSigner(oldKey.secret);
    const { keyRing, cookieKeys } = loginOf(parseConfig({ login: { signer } }, env));
    expect(keyRing.signer).toBe(signer);
    expect(keyRing.publicKeys).toEqual([oldKey.publicKey, key.publicKey]);
    expect(cookieKeys).toEqual([derived(seedOf(key.secret))]);
  });

  test('are not required with a signer and INTENT_SECRET', () => {
    const signer = createSigner(key.secret);
    expect(problemsIn({ login: { signer } }, withoutKey)).toEqual([
      expect.stringMatching(/^INTENT_SECRET: It is not set.*`login\.signer`/),
    ]);
    const { keyRing, cookieKeys } = loginOf(parseConfig({ login: { signer }, secret: 'c'.repeat(40) }, withoutKey));
    expect(keyRing.publicKeys).toEqual([key.publicKey]);
    expect(cookieKeys).toEqual([derived('c'.repeat(40))]);
  });

  test.each<[string, object, RegExp]>([
    ['public key', { publicKey: 'arn:aws:kms:1', sign: () => new Uint8Array(64) }, /not the Base58 form of 32 bytes/],
    ['function', { publicKey: key.publicKey }, /no method `sign`/],
  ])('from a signer without a %s are one problem of the signer', (_name, signer, problem) => {
    for (const environment of [env, withoutKey]) {
      const problems = problemsIn({ login: { signer: signer as Signer }, secret: 'c'.repeat(32) }, environment);
      expect(problems).toEqual([expect.stringMatching(problem)]);
      expect(problems[0]).toMatch(/^login\.signer: /);
    }
  });
});

describe('webhooks', () => {
  const [one, two] = [key.publicKey, oldKey.publicKey];

  test('are off by default, and read public keys from the option or the variable, without duplicates', () => {
    const variables = { ...env, INTENT_WEBHOOK_PUBLIC_KEY: ` ${one} ,${two},${one}` };
    expect(parseConfig({}, { ...variables, INTENT_WEBHOOK_PUBLIC_KEY: 'nonsense' }).webhook).toBeUndefined();
    expect(parseConfig(webhook, variables).webhook).toEqual({ webhookPublicKeys: [one, two] });
    expect(parseConfig({ ...webhook, webhook: { publicKeys: [two] } }, variables).webhook?.webhookPublicKeys).toEqual([
      two,
    ]);
  });

  test('need a public key, an origin and their route', () => {
    const needed = ['INTENT_ORIGIN', 'INTENT_WEBHOOK_PUBLIC_KEY'];
    expect(settingsIn({ webhook: true })).toEqual(needed);
    expect(
      settingsIn({ webhook: true, sequencer: { transport }, secret: 's'.repeat(32) }, { ...env, ...simulated }),
    ).toEqual(needed);
    expect(settingsIn({ ...webhook, webhook: { publicKeys: [one] }, routes: { webhook: false } })).toEqual(['webhook']);
  });

  test('of the simulator need neither, and ignore a configured public key', () => {
    const { webhook: read } = parseConfig({ webhook: true }, { ...simulated, INTENT_WEBHOOK_PUBLIC_KEY: one });
    expect(read).toEqual({ webhookPublicKeys: undefined });
  });
});

test('the option routes renames and disables routes, and several may be disabled', () => {
  const given = { intent: '/shop/pay-now', status: false, session: '/a.b~c_d', openapi: false } as const;
  expect(parseConfig({ routes: given }, env).routes).toMatchObject({
    ...given,
    events: '/intent',
    elements: '/intent/v1',
  });
});

test('a missing INTENT_SECRET is a warning in production, because logins then depend on the verifier secret', () => {
  const button = { walletUrl: 'https://wallet.example/open' };
  const warningsOf = (options: ConfigOptions, environment: Environment) =>
    parseConfig({ button, ...options }, environment).warnings;
  expect(warningsOf({}, production)).toEqual([
    expect.stringMatching(/^INTENT_SECRET is not set\. .*logs everybody out\. Set it to at least 32 random characters/),
  ]);
  expect(warningsOf({ secret: 's'.repeat(32) }, production)).toEqual([]);
  expect(warningsOf({}, { ...production, INTENT_SECRET: 's'.repeat(32) })).toEqual([]);
  expect(warningsOf({ login: false }, production)).toEqual([]);
  expect(warningsOf({}, env)).toEqual([]);
});

describe('a variable that nothing reads', () => {
  const walletUrl = 'https://wallet.example/open';

  test('is reported once with the intended name if it looks like a typo', () => {
    const typos = { INTENT_DOMIAN: 'x', INTENTS_ORIGIN: 'x', INTENT_TRACKING: 'x', INTENT_SECRETS: undefined };
    expect(parseConfig({ button: { walletUrl } }, { ...env, ...typos }).warnings).toEqual([
      'INTENT_DOMIAN is set but not used. If you mean INTENT_DOMAIN, rename it.',
      'INTENTS_ORIGIN is set but not used. If you mean INTENT_ORIGIN, rename it.',
    ]);
    const { INTENT_DOMAIN: INTENT_DOMIAN, ...others } = env;
    expect(problemsIn({}, { ...others, INTENT_DOMIAN })).toEqual([
      expect.stringMatching(/^INTENT_DOMAIN: .* INTENT_DOMIAN is set and looks like a typo\. Rename it/),
    ]);
  });

  test('is a notice if it resembles no variable, because the app may read it', () => {
    const more = { ...env, INTENT_SERVICE_KEY: 'x' };
    const { warnings, notices } = parseConfig({ button: { walletUrl } }, more);
    expect(warnings).toEqual([]);
    expect(notices).toEqual([
      expect.stringContaining('INTENT_SERVICE_KEY is set, but express-intents does not read it'),
    ]);
    expect(problemsIn(webhook, more)).toEqual([
      expect.stringMatching(/^INTENT_WEBHOOK_PUBLIC_KEY: .*INTENT_SERVICE_KEY is set, but/),
    ]);
  });
});

describe('INTENT_SEQUENCER_URL=simulator', () => {
  test('needs no other setting, logs what it generates, and pays to the same account at each start', () => {
    const [config, other] = [parseConfig({}, simulated), parseConfig({}, simulated)];
    expect(config.login?.domain).toBe('shop.example');
    expect(bs58.decode(config.destination ?? '')).toHaveLength(32);
    expect(other.destination).toBe(config.destination);
    expect(other.login?.keyRing.publicKeys).not.toEqual(config.login?.keyRing.publicKeys);
    expect(other.login?.cookieKeys).not.toEqual(config.login?.cookieKeys);
    expect(config.notices).toEqual([
      expect.stringMatching(/^INTENT_VERIFIER_SECRET is not set\. .* restarting logs everyone out\.$/),
      'INTENT_DOMAIN is not set. Logins use shop.example.',
    ]);
    // Then the cookies do not depend on the generated key.
    const withSecret = parseConfig({}, { ...simulated, INTENT_SECRET: 'x'.repeat(32) });
    expect(withSecret.notices[0]).toMatch(/A key is generated at each start\.$/);
  });

  test('uses the configured settings and logs nothing', () => {
    const config = parseConfig({ destination }, { ...env, ...simulated });
    expect(config.notices).toEqual([]);
    expect(config.destination).toBe(destination);
    expect(config.login?.keyRing.publicKeys).toEqual([key.publicKey]);
    expect(parseConfig({ login: false }, simulated).notices).toEqual([]);
  });

  test('generates neither a key nor an account for a custom transport, which may reach a real sequencer', () => {
    expect(settingsIn({ sequencer: { transport } }, simulated)).toEqual(['INTENT_VERIFIER_SECRET', 'INTENT_DOMAIN']);
    expect(parseConfig({ sequencer: { transport }, login: false }, simulated).destination).toBeUndefined();
  });
});

function errorOf(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}
