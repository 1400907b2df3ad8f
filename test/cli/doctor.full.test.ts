import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Host } from '../../src/cli/command.js';
import type { Finding } from '../../src/cli/doctor/check.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { lockFolder } from '../../src/ledger/database/embedded/folder-lock.js';
import { openTestDatabase } from '../support/databases/databases.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { serve } from '../support/sites/serve.js';
import { expiredCertificate } from '../support/sites/shop-certificates.js';
import { holdTimeouts } from '../support/timeouts.js';
import { runCommand } from './support/run-command.js';
import type { FrontFaults } from './support/shop-front.js';
import { type SiteOptions, shopOrigin, startValidSetup, type ValidSetup } from './support/valid-setup.js';

// Each row starts from a setup with nothing wrong and plants one error. The doctor finds it, names the fix, and finds nothing
// else. A row has the check with its level, and the stable part of the fix.

let sound: ValidSetup;
let postgres: PostgresServer;
const before = { ...process.env };

beforeAll(async () => {
  sound = await startValidSetup();
  postgres = await startPostgres();
});
afterEach(() => {
  process.env = { ...before };
  sound.front.faults = {};
});

type Settings = Readonly<Record<string, string | undefined>>;

/** What is different from the sound setup. */
interface Plant {
  readonly env?: Settings;
  readonly host?: Partial<Host>;
  readonly front?: FrontFaults;
  readonly args?: readonly string[];
}
type Planting = () => Plant | Promise<Plant>;
type Row = readonly [
  name: string,
  plant: Planting,
  ...found: (readonly [found: `${string} ${'error' | 'warning'}`, fix: RegExp])[],
];
type NamedFinding = Finding & { readonly check: string; readonly fix?: string };

async function doctor(env: Settings, args: readonly string[], host: Partial<Host> = {}) {
  const kept = Object.entries(before).filter(([name]) => !/^(?:INTENT_|NODE_ENV)/.test(name));
  process.env = Object.fromEntries([...kept, ...Object.entries(env)].filter(([, value]) => value !== undefined));
  const { code, out, error } = await runCommand(['doctor', '--json', ...args], { host: { ...sound.host, ...host } });
  expect(error).toBe('');
  const findings: NamedFinding[] = JSON.parse(out).findings;
  // Most environments have no wallet URL. A test of its own expects that warning.
  const wrong = findings.filter(({ check, level }) => level === 'error' || (level === 'warning' && check !== 'wallet'));
  return { code, findings, wrong };
}

/** Plants the error of each row into an environment, and compares what the doctor finds. */
function finds(where: string, base: () => Settings, baseArgs: readonly string[], rows: readonly Row[]): void {
  const cases = rows.map(([name, plant, ...expected]) => ({ name, plant, expected }));
  it.each(cases)(`doctor finds ${where}: $name`, async ({ plant, expected }) => {
    const { env, host, front = {}, args = [] } = await plant();
    sound.front.faults = front;
    const { code, wrong } = await doctor({ ...base(), ...env }, [...baseArgs, ...args], host);
    expect(wrong.map(({ check, level, fix }) => [`${check} ${level}`, fix])).toEqual(
      expected.map(([found, fix]) => [found, expect.stringMatching(fix)]),
    );
    expect(code).toBe(expected.some(([found]) => found.endsWith(' error')) ? 1 : 0);
  });
}

const settings = (env: Settings) => (): Plant => ({ env });
const front =
  (faults: FrontFaults, env: Settings = {}) =>
  () => ({ front: faults, env });
const siteWith =
  (options: () => SiteOptions, env: Settings = {}, faults: FrontFaults = {}) =>
  async () => ({ env, front: { ...faults, site: await sound.startSite(options()) } });
/** The proxy answers the requests for these paths itself. */
const frontAnswers = (paths: RegExp, status: number, headers: Record<string, string> = {}, body = ''): FrontFaults => ({
  answer: (req, res) => {
    if (!paths.test(req.url ?? '')) return false;
    res.writeHead(status, headers).end(body);
    return true;
  },
});
const noWallet = { INTENT_WALLET_URL: undefined };
const withoutDatabase = { INTENT_DATABASE_URL: undefined };

const onThisMachine: readonly Row[] = [
  [
    'the simulator in production',
    settings({ INTENT_SEQUENCER_URL: 'simulator', INTENT_SEQUENCER_GRPC_URL: undefined }),
    ['settings error', /^INTENT_SEQUENCER_URL=<base URL/],
  ],
  [
    'an http origin',
    settings({ INTENT_ORIGIN: 'http://shop-example.com' }),
    ['settings error', /^INTENT_ORIGIN=https/],
  ],
  ['a subdomain', settings({ INTENT_DOMAIN: 'www.shop-example.com' }), ['settings error', /^INTENT_DOMAIN=/]],
  [
    'an invalid verifier secret',
    () => ({ env: { INTENT_VERIFIER_SECRET: canaryOf('verifier') } }),
    ['settings error', /keygen/],
  ],
  [
    'a missing verifier key, which the doctor cannot tell from a signer',
    settings({ INTENT_VERIFIER_SECRET: undefined }),
    ['settings error', / Ignore this if the site passes `login\.signer`\.$/],
  ],
  [
    'two errors at once',
    settings({ INTENT_SECRET: 'short', INTENT_DESTINATION: '0x17' }),
    ['settings error', /^INTENT_SECRET=/],
    ['settings error', /^INTENT_DESTINATION=/],
  ],
  [
    'settings with a typo in their names',
    settings({ INTENT_DATABSE_URL: './ledger', INTENTS_DOMAIN: 'x' }),
    ['settings warning', /Did you mean INTENT_DATABASE_URL/],
    ['settings warning', /Did you mean INTENT_DOMAIN/],
  ],
  [
    'a missing secret file',
    settings({ INTENT_VERIFIER_SECRET: undefined, INTENT_VERIFIER_SECRET_FILE: '/nowhere/key' }),
    ['settings error', /readable file/],
  ],
  ['https without NODE_ENV', settings({ NODE_ENV: undefined }), ['consistency warning', /^NODE_ENV=production$/]],
  [
    'no destination',
    settings({ INTENT_DESTINATION: undefined }),
    ['settings warning', /account that receives the payments/],
  ],
  [
    'a folder as the ledger',
    () => ({ env: { INTENT_DATABASE_URL: temporaryFolder() } }),
    ['settings error', /allowFolderInProduction/],
  ],
];
finds('on this machine', () => sound.production, ['--offline'], onThisMachine);

/** The URL of a role with a wrong password. */
async function wrongPassword(): Promise<string> {
  const [{ hba_file: file } = {}] = await postgres.run('postgres', 'show hba_file');
  await postgres.run('postgres', `create role shop login password '${canaryOf('right')}'`);
  const rules = `values ('local all shop scram-sha-256'), ('local all all trust')`;
  await postgres.run('postgres', `copy (${rules}) to '${file}'`);
  await postgres.run('postgres', 'select pg_reload_conf()');
  return sound.production.INTENT_DATABASE_URL?.replace('postgres@', `shop:${canaryOf('wrong')}@`) ?? '';
}

/** A migrated database that these statements change. */
async function databaseWith(...statements: string[]): Promise<string> {
  const { url, db } = await openTestDatabase('postgres');
  const name = new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
  for (const statement of statements) await postgres.run(name, statement.replaceAll('$DATABASE', name));
  await db.close();
  return url;
}

const database =
  (url: () => string | Promise<string>, ...args: string[]) =>
  async () => ({
    env: { INTENT_DATABASE_URL: await url() },
    args,
  });

const inDatabases: readonly Row[] = [
  [
    'it is unreachable',
    database(() => `postgres://shop:${canaryOf('password')}@127.0.0.1:1/shop`),
    ['database error', /Start the database/],
  ],
  ['a wrong password', database(wrongPassword), ['database error', /Correct the user and the password/]],
  ['it is missing', database(() => postgres.url('lost')), ['database error', /createdb/]],
  [
    'no tables',
    database(async () => postgres.url(await postgres.createDatabase())),
    ['database warning', /^Start the site\. .*`npx express-intents migrate`\.$/],
  ],
  [
    'tables of a newer version',
    database(() => databaseWith(`insert into express_intents.schema_versions (version, name) values (99, 'x')`)),
    ['database warning', /npm install express-intents@latest/],
  ],
  [
    'a role without the right to create tables',
    database(async () => {
      const name = await postgres.createDatabase();
      await postgres.run(name, 'create role visitor login');
      return postgres.url(name).replace('postgres@', 'visitor@');
    }),
    ['database error', /migrate` as a role that has it/],
  ],
  [
    'a role without privileges on the tables in its schema',
    database(async () => {
      const url = await databaseWith('create role keeper login', 'alter schema express_intents owner to keeper');
      return url.replace('postgres@', 'keeper@');
    }),
    ['database error', /`grant select, insert, update, delete on all tables/],
  ],
  [
    'it is read-only',
    database(() => databaseWith('alter database $DATABASE set default_transaction_read_only = on')),
    ['database error', /to the primary, .* default_transaction_read_only to off/],
  ],
  [
    'a folder that another process has open',
    database(async () => {
      const folder = temporaryFolder();
      await lockFolder(folder);
      return folder;
    }, '--allow-folder-in-production'),
    ['database warning', /--url/],
  ],
  [
    'a folder that cannot be created',
    database(() => {
      const file = path.join(temporaryFolder(), 'file');
      writeFileSync(file, '');
      return path.join(file, 'ledger');
    }, '--allow-folder-in-production'),
    ['database error', /^Give the user of the site write access to /],
  ],
];
finds('in the database', () => sound.staging, [], inDatabases);

const keyFile = (status: number, headers: Record<string, string>, body: string): FrontFaults =>
  frontAnswers(/^\/[.]well-known\/service-payments[.]json$/, status, headers, body);
const json = { 'content-type': 'application/json' };
const listing = (...keys: string[]): string => JSON.stringify({ public_keys: keys });

const atKeyFiles: readonly Row[] = [
  [
    'a redirect to www',
    front(keyFile(301, { location: 'https://www.shop-example.com/' }, '')),
    ['key file error', /exclude it from the redirect/],
  ],
  [
    'a web page',
    front(keyFile(200, { 'content-type': 'text/html' }, '<!doctype html>')),
    ['key file error', /single-page app/],
  ],
  ['no file', front(keyFile(404, {}, '')), ['key file error', /app\.use\(intentRouter\(\)\)/]],
  [
    'the content type text/plain',
    () => ({ front: keyFile(200, { 'content-type': 'text/plain' }, listing(sound.keys.publicKey)) }),
    ['key file warning', /application\/json/],
  ],
  ['no signing key', front(keyFile(200, json, listing())), ['key file error', /Restart the site/]],
  [
    'a missing second key and a superfluous one',
    () => ({
      env: { INTENT_VERIFIER_SECRET: `${sound.keys.secret},${generateKeyPair().secret}` },
      front: keyFile(200, json, listing(sound.keys.publicKey, generateKeyPair().publicKey)),
    }),
    ['key file warning', /Restart the site/],
    ['key file warning', /remove the old secret from the site/],
  ],
  ['an expired certificate', front({ certificate: expiredCertificate }), ['key file error', /Renew the certificate/]],
  [
    'a certificate for another name',
    () => ({ front: { certificate: localhostCertificate }, host: { ca: localhostCertificate.cert } }),
    ['key file error', /from a public certificate authority/],
  ],
  ['an untrusted certificate', () => ({ host: { ca: undefined } }), ['key file error', /NODE_EXTRA_CA_CERTS=/]],
  [
    'an unreachable site',
    () => ({ host: { addressOf: () => ({ host: '127.0.0.1', port: 1 }) } }),
    ['key file error', /Serve the site at https:\/\/shop-example\.com/],
  ],
];
finds('at the key file', () => ({ ...sound.staging, ...withoutDatabase }), [], atKeyFiles);

const refusing = {
  call: async () => {
    throw new Error('The service is unreachable.');
  },
  close: async () => undefined,
};

/** The proxy changes the headers of requests. `claimed` is the client's own `X-Forwarded-For`. */
const requests = (request: NonNullable<FrontFaults['request']>) => front({ request });
const eventStreams = (headers: Record<string, string>) =>
  front({
    response: (own) => {
      if (own['content-type']?.startsWith('text/event-stream')) Object.assign(own, headers);
    },
  });
/** Appends the address of the client, as many proxies do, instead of overwriting those that the client claims. */
const appendAddress: FrontFaults['request'] = (headers, claimed) => {
  headers['x-forwarded-for'] = [claimed ?? [], '192.0.2.7'].flat().join(', ');
};
const csrfGuard = (app: Express): void => {
  app.post('/intent', (_req, res) => void res.status(403).send('invalid csrf token'));
};
const problemType = { 'content-type': 'application/problem+json' };
const mounted = /app\.use\(intentRouter\(\)\) without a path/;
const home = `<script type="module">import { elements } from '/pay/intent/v1/elements.js';</script>`;

const atSites: readonly Row[] = [
  [
    'a proxy without a site',
    front({ site: 'http://127.0.0.1:1' }, noWallet),
    ['key file error', /./],
    ['site error', /Start the app/],
    ['webhook error', /^Start the app/],
  ],
  [
    'the router under a path',
    siteWith(() => ({ mountPath: '/pay' }), noWallet),
    ['key file error', mounted],
    ['site error', mounted],
    ['webhook error', /webhook: true/],
  ],
  [
    'the router under a path that the home page names',
    siteWith(() => ({ mountPath: '/pay', home }), noWallet),
    ['key file error', /add app\.get\('\/\.well-known\/service-payments\.json', router\)/],
  ],
  [
    'a renamed route of the key file',
    siteWith(() => ({ routes: { keyFile: '/keys.json' } })),
    ['key file error', /^Remove keyFile from the option `routes`/],
  ],
  [
    'a router without a key file',
    siteWith(() => ({ routes: { keyFile: false } })),
    ['key file error', /Remove `login: false` and .*--no-login/],
  ],
  [
    'a redirect to www',
    front(frontAnswers(/^\/intent\//, 301, { location: 'https://www.shop-example.com/intent/v1/elements.js' })),
    ['site error', /--url https:\/\/www\.shop-example\.com$/],
    ['webhook error', /./],
  ],
  [
    'a login middleware that redirects the file of the button',
    front(frontAnswers(/^\/intent\/v1/, 302, { location: '/login' })),
    ['site error', /^Mount the router before the middleware that redirects/],
  ],
  ['an app that is down for event streams', front(frontAnswers(/\/events$/, 503)), ['events error', /^Start the app/]],
  [
    'a process at its limit of event streams',
    front(frontAnswers(/\/events$/, 503, problemType, '{"code":"too_busy"}')),
    ['events error', /raise limits\.streams\.perProcess/],
  ],
  [
    'a site without NODE_ENV=production',
    siteWith(() => ({ isDevelopment: true })),
    ['site error', /Start the site with NODE_ENV=production/],
  ],
  [
    'an untrusted proxy without an origin',
    siteWith(() => ({ origin: '', trustProxy: false, webhook: false }), {
      INTENT_WEBHOOK_PUBLIC_KEY: undefined,
      INTENT_ORIGIN: undefined,
    }),
    ['origin error', /app\.set\('trust proxy', 1\)/],
    ['proxy error', /app\.set\('trust proxy', 1\)/],
  ],
  [
    'a proxy that the site does not trust',
    siteWith(() => ({ trustProxy: false })),
    ['proxy error', /^Call app\.set\('trust proxy', 1\)/],
  ],
  [
    'a second proxy that the site does not trust',
    requests((headers) => void Object.assign(headers, { 'x-forwarded-for': '198.51.100.4, 192.0.2.7' })),
    ['proxy warning', /'trust proxy', 2\)/],
  ],
  [
    'a proxy that forwards no address',
    requests((headers) => void delete headers['x-forwarded-for']),
    ['proxy error', /X-Forwarded-For/],
  ],
  [
    'a proxy that does not forward the protocol',
    requests((headers) => void delete headers['x-forwarded-proto']),
    ['proxy error', /X-Forwarded-Proto: https/],
  ],
  [
    'a site that trusts every address',
    siteWith(() => ({ trustProxy: true }), {}, { request: appendAddress }),
    ['proxy error', /'trust proxy', 1\).*overwrite X-Forwarded-For/],
  ],
  ['a CSRF guard before the router', siteWith(() => ({ before: csrfGuard })), ['origin error', /CSRF guard/]],
  [
    'a local origin that differs from the public one',
    settings({ INTENT_ORIGIN: 'https://www.shop-example.com' }),
    ['consistency error', /^INTENT_ORIGIN=https:\/\/shop-example\.com$/],
    ['origin error', /./],
  ],
  [
    'a proxy that sets the Origin header',
    requests((headers) => void (headers.origin && Object.assign(headers, { origin: shopOrigin }))),
    ['origin error', /forward the header Origin unchanged/],
  ],
  [
    'a proxy that buffers the events',
    // Slower than a busy machine.
    async () => ({
      ...(await siteWith(() => ({ slowMs: 1_000 }), {}, { buffers: true })()),
      host: { checkTimeoutMs: 30_000 },
    }),
    ['events error', /proxy_buffering off/],
  ],
  [
    'a proxy that compresses the events',
    eventStreams({ 'content-encoding': 'gzip' }),
    ['events error', /event-stream/],
  ],
  [
    'a cache that stores the events',
    eventStreams({ 'cache-control': 'max-age=60' }),
    ['events error', /Disable caching/],
  ],
  [
    'a site that cannot reach its sequencer',
    siteWith(() => ({ sequencer: { transport: refusing } })),
    ['events error', /the log of the site/],
  ],
  [
    'a wallet URL with a 404',
    front(frontAnswers(/^\/wallet$/, 404), { INTENT_WALLET_URL: `${shopOrigin}/wallet` }),
    ['wallet error', /INTENT_WALLET_URL/],
  ],
  [
    'a firewall in front of the webhook',
    front(frontAnswers(/^\/intent\/webhook$/, 403)),
    ['webhook error', /pass POST to this path/],
  ],
  [
    'no webhook, which the document of the routes shows',
    siteWith(() => ({ webhook: false })),
    ['webhook error', /webhook: true/],
  ],
  [
    'a webhook route that no document of the routes names',
    siteWith(() => ({ routes: { webhook: '/pay/hook', openapi: false } })),
    ['webhook warning', /webhook: true/],
  ],
  [
    'nothing: the home page names a renamed file',
    siteWith(() => ({ routes: { elements: '/pay/intent/v1' }, home }), noWallet),
  ],
  [
    'nothing: the root serves the key file',
    siteWith(() => ({ mountPath: '/pay', servesRootKeyFile: true, home }), noWallet),
  ],
];
finds('at the running site', () => ({ ...sound.production, ...withoutDatabase }), ['--url', shopOrigin], atSites);

/** The findings of one check at the site in production. */
async function findingsOf(name: string, host: Partial<Host> = {}, env: Settings = {}, args: readonly string[] = []) {
  const all = { ...sound.production, ...withoutDatabase, ...env };
  const { findings } = await doctor(all, ['--url', shopOrigin, ...args], host);
  return findings.filter(({ check }) => check === name).map(({ level, text }) => [level, text]);
}

const closing = (paths: RegExp) => front(frontAnswers(paths, 503, problemType, '{"code":"closing"}'));

it.each<[string, string, Planting, Finding['level'], string]>([
  ['origin', 'the site is shutting down', closing(/^\/intent$/), 'skipped', 'the site is shutting down'],
  ['events', 'the site is shutting down', closing(/\/events$/), 'skipped', 'the site is shutting down'],
  [
    'site',
    'a limit rejects this machine',
    front(frontAnswers(/^\/intent\/v1/, 429)),
    'skipped',
    'run the doctor again',
  ],
  ['webhook', 'it is renamed', siteWith(() => ({ routes: { webhook: '/pay/hook' } })), 'ok', '/pay/hook answers'],
  ['proxy', 'it appends the address', front({ request: appendAddress }), 'ok', 'behind 1 proxy'],
  ['proxy', 'the request ends before the router', siteWith(() => ({ before: csrfGuard })), 'skipped', 'check `origin`'],
  ['proxy', 'logins are disabled', () => ({ args: ['--no-login'] }), 'skipped', 'logins are disabled'],
  ['proxy', 'a setting is not valid', settings({ INTENT_SECRET: 'short' }), 'skipped', 'check `settings`'],
  [
    'proxy',
    'the site has other secrets',
    siteWith(() => ({ trustProxy: false, secret: canaryOf('other cookies') })),
    'skipped',
    'Run the doctor with the secrets',
  ],
  [
    'wallet',
    'its page has more than 256 KiB',
    front(frontAnswers(/^\/wallet$/, 200, {}, ' '.repeat(300_000)), { INTENT_WALLET_URL: `${shopOrigin}/wallet` }),
    'ok',
    'answers',
  ],
])('doctor finds nothing with the check %s if %s', async (check, _condition, plant, level, text) => {
  const { env, args, front: faults = {} } = await plant();
  sound.front.faults = faults;
  expect(await findingsOf(check, {}, env, args)).toEqual([[level, expect.stringContaining(text)]]);
});

it('doctor warns about a missing wallet URL', async () => {
  const { findings } = await doctor({ ...sound.staging, ...withoutDatabase, ...noWallet }, []);
  expect(findings.find(({ check }) => check === 'wallet')).toMatchObject({
    level: 'warning',
    fix: expect.stringMatching(/^Set INTENT_WALLET_URL/),
  });
});

it('doctor prints the command that migrates with its own --env-file', async () => {
  const file = path.join(temporaryFolder(), 'site.env');
  writeFileSync(file, `INTENT_DATABASE_URL=${postgres.url(await postgres.createDatabase())}\n`);
  const { wrong } = await doctor({ ...sound.staging, ...withoutDatabase }, ['--env-file', file]);
  expect(wrong).toMatchObject([{ fix: expect.stringContaining(`\`npx express-intents migrate --env-file ${file}\``) }]);
});

describe('doctor finds nothing', () => {
  it('about an app that parses bodies before the router', async () => {
    const errors: unknown[] = [];
    const parse = (app: Express): void => {
      app.use(express.json(), ((error, _req, _res, next) => next(void errors.push(error))) as ErrorRequestHandler);
    };
    sound.front.faults = { site: await sound.startSite({ before: parse }) };
    for (const check of ['origin', 'proxy']) expect(await findingsOf(check)).toMatchObject([['ok', expect.anything()]]);
    expect(errors).toEqual([]);
  });

  it('about the buffer of a proxy, if the sequencer answers immediately', async () => {
    const nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    holdTimeouts(3_000);
    sound.front.faults = { buffers: true, site: await sound.startSite({ slowMs: 0 }) };
    expect(await findingsOf('events', { checkTimeoutMs: 60_000 })).toEqual([
      ['skipped', expect.stringContaining('cannot tell whether a proxy buffers the events')],
    ]);
  });

  it('about the buffer of a proxy, if plain requests are as slow as the stream', async () => {
    const site = await sound.startSite({
      slowMs: 500,
      before: (app) => {
        let delayMs = 0;
        app.use((req, _res, next) => {
          if (req.path.endsWith('/events')) delayMs = 400;
          setTimeout(next, req.path.endsWith('/status/1') ? delayMs : 0);
        });
      },
    });
    sound.front.faults = { buffers: true, site };
    expect(await findingsOf('events', { checkTimeoutMs: 30_000 })).toEqual([
      ['skipped', expect.stringContaining('plain requests are delayed too')],
    ]);
  });

  it('about a proxy that holds back two streams and not the third', async () => {
    let streams = 0;
    sound.front.faults = {
      // Slower than a busy machine.
      site: await sound.startSite({ slowMs: 1_500 }),
      buffers: ({ url = '' }) => {
        if (url.endsWith('/events')) streams += 1;
        return streams < 3;
      },
    };
    const found = await findingsOf('events', { checkTimeoutMs: 30_000 });
    expect(found).toEqual([['ok', expect.stringContaining('first event after')]]);
    expect(streams).toBe(3);
  });

  it.each(['production', 'staging'] as const)('in a valid environment: %s', async (name) => {
    const args = name === 'production' ? ['--url', shopOrigin] : [];
    // Slower than a busy machine.
    sound.front.faults = { site: await sound.startSite({ slowMs: 1_000 }) };
    const { code, wrong, findings } = await doctor(sound[name], args, { checkTimeoutMs: 30_000 });
    expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
    // Together they run all checks, except for a folder.
    const passed = findings.filter(({ level }) => level === 'ok').map(({ check }) => check);
    const everywhere = ['settings', 'consistency', 'database'];
    expect(passed).toEqual(
      name === 'production'
        ? [...everywhere, 'grpc', 'key file', 'site', 'origin', 'proxy', 'events', 'webhook', 'wallet']
        : [...everywhere, 'sequencer', 'stream', 'key file'],
    );
  });

  it('with a ledger in a folder that is missing, exists, or is open in another process', async () => {
    const folder = path.join(temporaryFolder(), 'ledger');
    const databaseText = async (...args: string[]) => {
      const env = { INTENT_SEQUENCER_URL: 'simulator', INTENT_DATABASE_URL: folder };
      const { findings, wrong } = await doctor(env, args);
      expect(wrong.filter(({ check }) => check === 'database')).toEqual([]);
      return findings.find(({ check }) => check === 'database')?.text;
    };
    expect(await databaseText()).toBe(`${folder} will be created`);
    mkdirSync(path.join(folder, 'data'), { recursive: true });
    expect(await databaseText()).toBe(folder);
    const lock = await lockFolder(folder);
    expect(await databaseText('--url', 'http://127.0.0.1:1')).toBe(
      `${folder}, open in another process, probably the site`,
    );
    await lock.release();
  });
});

it('doctor sends no request to another host that the site names', async () => {
  const requested: string[] = [];
  const otherHost = new URL(await serve((req, res) => res.end(String(requested.push(String(req.url))))));
  const elsewhere = `//${otherHost.host}/intent`;
  const routes = { intent: elsewhere, status: elsewhere, events: elsewhere, session: elsewhere };
  const site = await serve((_req, res) => res.end(`const intentSite = ${JSON.stringify({ routes })};\n`));
  const { findings } = await doctor({ ...sound.staging, INTENT_DATABASE_URL: undefined }, ['--url', site]);
  expect(requested).toEqual([]);
  expect(findings).toContainEqual({
    check: 'events',
    level: 'skipped',
    text: 'the route `events` is disabled, or no router was found; see the check `site`',
  });
});

it('doctor changes nothing: it creates no intent, no table and no folder', async () => {
  const name = await postgres.createDatabase();
  const calls: string[] = [];
  const counting = {
    ...sound.simulator.transport,
    call: (...args: Parameters<typeof sound.simulator.transport.call>) => {
      calls.push(args[0].method);
      return sound.simulator.transport.call(...args);
    },
  };
  sound.front.faults = { site: await sound.startSite({ sequencer: { transport: counting }, slowMs: 500 }) };
  const env = { ...sound.production, INTENT_DATABASE_URL: postgres.url(name) };
  const { wrong } = await doctor(env, ['--url', shopOrigin]);
  expect(wrong.map(({ check }) => check)).toEqual(['database']);
  expect(new Set(calls)).toEqual(new Set(['getStatus']));
  expect(await postgres.run(name, `select from pg_namespace where nspname = 'express_intents'`)).toEqual([]);
  const folder = path.join(temporaryFolder(), 'ledger');
  await doctor({ INTENT_SEQUENCER_URL: 'simulator', INTENT_DATABASE_URL: folder }, []);
  expect(() => mkdirSync(folder)).not.toThrow();
});
