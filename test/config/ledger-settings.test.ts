import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions, Environment } from '../../src/config/config-options.js';
import { generateKeyPair } from '../../src/index.js';
import { problemsOf } from '../support/sites/problems-of.js';

const env = {
  INTENT_SEQUENCER_URL: 'https://sequencer.example',
  INTENT_VERIFIER_SECRET: generateKeyPair().secret,
  INTENT_DOMAIN: 'shop.example',
};
const ledgerOf = (options: ConfigOptions, more: Environment = {}) => parseConfig(options, { ...env, ...more }).ledger;

const url = 'postgres://shop:hunter2@db.example/shop';

test('there is no ledger without a database', () => {
  expect(ledgerOf({})).toBeUndefined();
  expect(ledgerOf({ databaseUrl: '' }, { INTENT_DATABASE_URL: url })).toBeUndefined();
  expect(ledgerOf({ settleDelayMs: 1_000 }, { INTENT_DATABASE_URL: '' })).toBeUndefined();
});

test('a Postgres URL is sufficient, and all other settings have defaults', () => {
  expect(ledgerOf({}, { INTENT_DATABASE_URL: url })).toEqual({
    database: { kind: 'postgres', url },
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

test.each(['postgres://shop@/shop?host=/run/postgresql', 'postgres:///shop?host=/run/postgresql', 'postgres://'])(
  'a Postgres URL can contain a socket: %s',
  (databaseUrl) => {
    expect(ledgerOf({ databaseUrl })?.database).toEqual({ kind: 'postgres', url: databaseUrl });
  },
);

test('the option databaseUrl overrides INTENT_DATABASE_URL', () => {
  const ledger = ledgerOf({ databaseUrl: 'postgresql://other/shop' }, { INTENT_DATABASE_URL: url });
  expect(ledger?.database).toEqual({ kind: 'postgres', url: 'postgresql://other/shop' });
});

test.each(['./ledger', 'ledger', '/var/lib/shop/ledger', '../a folder with spaces', 'C:\\ledger', 'postgres'])(
  'text that is not a URL is a folder: %s',
  (folder) => {
    expect(ledgerOf({ databaseUrl: folder })?.database).toEqual({ kind: 'embedded', folder });
  },
);

test.each([
  'mysql://shop@db/shop',
  'http://localhost/ledger',
  'sqlite:./ledger.db',
  'file:///ledger',
  'POSTGRES://x/y',
])('another scheme is rejected: %s', (databaseUrl) => {
  expect(problemsOf(() => ledgerOf({ databaseUrl }))).toMatchObject([
    {
      setting: 'databaseUrl',
      problem: 'It is neither a URL that begins with postgres:// nor the path of a folder.',
    },
  ]);
});

test.each([
  '"/data/ledger"',
  "'./ledger'",
  ' ./ledger',
  './ledger\n',
  '"postgres://shop:hunter2@db/shop"',
  ' postgres://shop:hunter2@db/shop',
  'postgres://shop:hunter2@db/shop"',
])('quotes and spaces around the value are reported: %j', (INTENT_DATABASE_URL) => {
  expect(problemsOf(() => ledgerOf({}, { INTENT_DATABASE_URL }))).toEqual([
    {
      setting: 'INTENT_DATABASE_URL',
      problem: 'It has quotes or spaces around the value.',
      fix: 'Remove the quotes and spaces.',
    },
  ]);
});

test.each([
  'postgres://shop:hunter2@[db/shop',
  'postgres://shop:12345/hunter2@db/shop',
  'postgres://shop:12345#hunter2@db/shop',
  'postgres://shop:12345?hunter2@db/shop',
  'postgres://shop:12345?a=hunter2@db/shop',
  'postgres://shop:hunter2@12345?2@db/shop',
  'postgres://shop:hunter2/@db/shop',
])('the invalid URL %s is rejected without its password', (databaseUrl) => {
  const [problem] = problemsOf(() => ledgerOf({ databaseUrl }));
  expect(problem).toMatchObject({ setting: 'databaseUrl', problem: 'It is not a valid URL.' });
  expect(problem?.fix).toMatch(/^databaseUrl: 'postgres:\/\/\S+' \(percent-encode/);
  expect(JSON.stringify(problem)).not.toMatch(/hunter2|12345/);
});

test.each([
  'postgres://db/shop?user=shop@server&password=p@ss',
  'postgres:///shop?host=/var/run/postgresql&user=shop@REALM',
  'postgres://shop%40server:p%40ss%2F@db:5432/shop?sslmode=require',
  'postgres://shop:p@ss@db/shop',
])('the URL %s is accepted', (databaseUrl) => {
  expect(ledgerOf({ databaseUrl })).toMatchObject({ database: { kind: 'postgres', url: databaseUrl } });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };

  test('a folder is rejected with the failure that it does not survive', () => {
    expect(problemsOf(() => ledgerOf({}, { ...production, INTENT_DATABASE_URL: './ledger' }))).toEqual([
      {
        setting: 'INTENT_DATABASE_URL',
        problem:
          'It is a folder, and NODE_ENV=production. A ledger in a folder survives a crash of the process, but not a power failure.',
        fix: 'INTENT_DATABASE_URL=postgres://..., or accept that risk with intentRouter({ allowEmbeddedLedger: true })',
      },
    ]);
  });

  test('a folder is accepted with allowEmbeddedLedger, and Postgres without', () => {
    const ledger = ledgerOf({ databaseUrl: './ledger', allowEmbeddedLedger: true }, production);
    expect(ledger?.database.kind).toBe('embedded');
    expect(ledgerOf({ databaseUrl: url }, production)?.database.kind).toBe('postgres');
  });
});

test('options override the defaults', () => {
  const set = { migrate: false, settleDelayMs: 60_000, settlementConcurrency: 48 };
  const watch = { unpaidMs: 86_400_000, settledMs: 0 };
  const hookLimits = { maxAttempts: 3, timeoutMs: 5_000 };
  expect(ledgerOf({ databaseUrl: url, ...set, watch, hookLimits })).toMatchObject({
    ...set,
    watchMs: 86_400_000,
    reversalWatchMs: 0,
    hookAttempts: 3,
    hookTimeoutMs: 5_000,
  });
});

test('the message for a delay names its smallest value, which is 0', () => {
  expect(problemsOf(() => ledgerOf({ settleDelayMs: -1 }))).toEqual([
    {
      setting: 'settleDelayMs',
      problem: 'It must be a whole number of milliseconds from 0 to 3153600000000.',
      fix: 'settleDelayMs: 0',
    },
  ]);
});

test('a time that the ledger stores is at most 36500 days from now', () => {
  const centuryMs = 36_500 * 86_400_000;
  const longest = { settleDelayMs: centuryMs, watch: { unpaidMs: centuryMs } };
  expect(ledgerOf({ databaseUrl: url, ...longest })).toMatchObject({ settleDelayMs: centuryMs, watchMs: centuryMs });
  const tooLong = { settleDelayMs: centuryMs + 1, watch: { unpaidMs: centuryMs + 1 } };
  expect(problemsOf(() => ledgerOf({ databaseUrl: url, ...tooLong }))).toEqual([
    {
      setting: 'settleDelayMs',
      problem: 'It must be a whole number of milliseconds from 0 to 3153600000000.',
      fix: 'settleDelayMs: 0',
    },
    {
      setting: 'watch.unpaidMs',
      problem: 'It must be a whole number of milliseconds from 1 to 3153600000000.',
      fix: 'watch: { unpaidMs: 2592000000 }',
    },
  ]);
});

test.each<[setting: string, options: ConfigOptions]>([
  ['settleDelayMs', { settleDelayMs: -1 }],
  ['settleDelayMs', { settleDelayMs: 0.5 }],
  ['watch.unpaidMs', { watch: { unpaidMs: 0 } }],
  ['watch.unpaidMs', { watch: { unpaidMs: Number.NaN } }],
  ['watch.settledMs', { watch: { settledMs: -5 } }],
  ['watch.unpaid', { watch: { unpaid: 5 } as object }],
  ['settlementConcurrency', { settlementConcurrency: 0 }],
  ['settlementConcurrency', { settlementConcurrency: 49 }],
  ['hookLimits.maxAttempts', { hookLimits: { maxAttempts: 0 } }],
  ['hookLimits.maxAttempts', { hookLimits: { maxAttempts: 2.5 } }],
  ['hookLimits.maxAttempts', { hookLimits: { maxAttempts: 1_001 } }],
  ['hookLimits.timeoutMs', { hookLimits: { timeoutMs: 2 ** 31 } }],
  ['hookLimits.attempts', { hookLimits: { attempts: 5 } as object }],
])('%s: %j is rejected, with or without a ledger', (setting, options) => {
  expect(problemsOf(() => ledgerOf(options))).toMatchObject([{ setting }]);
  expect(problemsOf(() => ledgerOf({ databaseUrl: url, ...options }))).toMatchObject([{ setting }]);
});
