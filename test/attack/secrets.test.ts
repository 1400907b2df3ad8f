import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import bs58 from 'bs58';
import type { Express } from 'express';
import session from 'express-session';
import request from 'supertest';
import { requireLogin } from '../../src/http/session/require-login.js';
import { openDatabase } from '../../src/ledger/database/open-database.js';
import { intentRouter } from '../../src/router/intent-router.js';
import type { IntentRouterOptions } from '../../src/router/options.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { startPostgres } from '../support/databases/postgres-server.js';
import { eventually } from '../support/eventually.js';
import { canaryOf, secretsIn } from '../support/runner/secret-forms.js';
import { takeLeaks, watchConsole, watchStream } from '../support/runner/watch-for-leaks.js';
import { type Answer, faultSequencer, ok } from '../support/sequencers/fault-sequencer.js';
import { faultsOf } from '../support/sequencers/faults.js';
import { serve } from '../support/sites/serve.js';
import { jwtOf } from '../support/sites/service-jwt.js';
import { destination, LogRecorder, mergeOptions, orderIn, verifierSecret } from '../support/sites/site.js';
import { createIntent } from './support/browsers.js';

// ---- The secrets and their forms ----

/** 32 bytes that are recognized in every printed form. */
const seed = Buffer.from('secret-canary-of-the-verifier-00');
const webhookPublicKey = generateKeyPairSync('ed25519');
const serviceSeed = Buffer.from(String(webhookPublicKey.privateKey.export({ format: 'jwk' }).d), 'base64url');
const serviceId = bs58.encode(Buffer.from(String(webhookPublicKey.publicKey.export({ format: 'jwk' }).x), 'base64url'));
const settings = {
  login: { verifierSecret: `${bs58.encode(seed)},${bs58.encode(Buffer.alloc(32, 9))}` },
  secret: `${canaryOf('cookies')},${canaryOf('cookies-of-before')}`,
};

/** The printed forms of a secret. */
function formsOf(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const forms = [bytes.toString('hex'), bytes.toString('base64url'), bytes.toString('base64'), bs58.encode(bytes)];
  const listed = [
    [...bytes].join(','),
    JSON.stringify([...bytes]),
    [...bytes].map((byte) => byte.toString(16)).join(' '),
  ];
  return [...forms, ...listed, ...(typeof secret === 'string' ? [secret, encodeURIComponent(secret)] : [])];
}

/** The names of the secrets that a text contains in any form. */
function found(text: string, secrets: Readonly<Record<string, string | Uint8Array>>): string[] {
  const plain = text.replaceAll(/\s*,\s*/g, ',');
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => plain.includes(form)))
    .map(([name]) => name);
}

/** All printed forms of a value. */
function printedForms(value: unknown): string {
  const deep = inspect(value, { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null });
  const error = value instanceof Error ? `${value.message} ${value.stack} ${inspect(value.cause, { depth: 12 })}` : '';
  return `${deep}\n${JSON.stringify(value)}\n${error}\n${String(value)}`;
}

// ---- A site whose output is recorded ----

const ownOrigin = 'https://shop.example';

/** Collects logs, responses and errors, and the secrets that they must not contain. */
class Recording {
  readonly texts: string[] = [];
  readonly secrets: Record<string, string | Uint8Array> = {
    'the verifier secret': seed,
    INTENT_SECRET: canaryOf('cookies'),
    'the previous INTENT_SECRET': canaryOf('cookies-of-before'),
    "the service's key": serviceSeed,
  };

  readonly logger = {
    warn: (...line: unknown[]): void => void this.texts.push(line.map(printedForms).join('\n')),
    error: (...line: unknown[]): void => void this.texts.push(line.map(printedForms).join('\n')),
  };

  /** Records a response without the client secret and the cookies, which it adds to the secrets. */
  answer({ headers, body }: { headers: Headers; body: Record<string, unknown> }): void {
    const n = Object.keys(this.secrets).length;
    const { client_secret: clientSecret, ...rest } = body;
    if (typeof clientSecret === 'string') this.secrets[`client secret ${n}`] = clientSecret;
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]{20,})/.exec(line) ?? [];
      if (name && value) this.secrets[`cookie ${name} ${n}`] = value;
    }
    const printed = [...headers].filter(([name]) => name !== 'set-cookie');
    this.texts.push(`${JSON.stringify(printed)}\n${JSON.stringify(rest)}`);
  }

  get leaks(): string[] {
    return found(this.texts.join('\n'), this.secrets);
  }
}

const routers: ReturnType<typeof intentRouter>[] = [];
afterAll(async () => {
  for (const router of routers) await router.close();
});

async function startRecordedSite(recording: Recording, before: (app: Express) => void, more: IntentRouterOptions = {}) {
  const { default: express } = await import('express');
  const simulator = await faultSequencer(ok());
  const app = express();
  before(app);
  const base: IntentRouterOptions = {
    ...settings,
    sequencer: { url: simulator.url },
    login: { ...settings.login, domain: 'shop.example' },
    destination,
    webhook: { publicKeys: [serviceId] },
    origin: ownOrigin,
    logger: recording.logger,
    payment: (req) => {
      if (orderIn(req) === 'refused') throw Object.assign(new Error('No.'), { status: 404, expose: true });
      if (orderIn(req) === 'broken') throw new TypeError('Cannot read properties of undefined');
      if (orderIn(req) === 'wrong') return { amount: '0.001', currency: 'usd' };
      return { amount: 5, currency: 'usd' };
    },
    onCreated: (_record, req) => {
      if (orderIn(req) === 'lost') throw new Error('The disk is full.');
    },
  };
  const router = intentRouter(mergeOptions([base, more]));
  routers.push(router);
  app.use(router);
  app.get('/account', requireLogin(), (_req, res) => void res.json({ in: true }));
  return { origin: await serve(app), router, simulator };
}

const confirmed = ok(encode(v1.GetLoginForThirdPartyAppResponse, { userId: { value: new Uint8Array(32).fill(5) } }));
const paid = ok(encode(v1.GetStatusResponse, { exists: true, codeScanned: true, intentSubmitted: true }));
const answers: Readonly<Record<string, Answer>> = { getLoginForThirdPartyApp: confirmed, getStatus: paid };
/** A service where every login is confirmed and every payment is paid. */
const confirmAll: Answer = (call, res, req) => (answers[call.operation.method] ?? ok())(call, res, req);

/** Requests every route with every rejection, from a browser with all cookies. */
async function driveAll(recording: Recording, origin: string): Promise<void> {
  const browser = new Browser(origin, new Map(), ownOrigin);
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    recording.answer(await browser.send(method, path, body));
  };
  for (const order of [1, 'refused', 'broken', 'wrong', 'lost', { nested: true }])
    await send('POST', '/intent', { order });
  for (const body of [{ amount: 1 }, { mode: 'x' }, { x: 1 }, [], 'x'.repeat(5_000)])
    await send('POST', '/intent', body);
  const { secret, id } = await createIntent(browser);
  recording.secrets['the login in progress'] = secret;
  for (const body of [{ id }, { id }, { id: 'x' }, { id, x: 1 }, {}]) await send('POST', '/session', body);
  for (const path of [
    '/session',
    '/account',
    '/.well-known/service-payments.json',
    `/status/${id}`,
    '/status/x',
    '/nowhere',
  ]) {
    await send('GET', path);
  }
  for (const method of ['PUT', 'PATCH']) await send(method, '/session');
  const events = await fetch(`${origin}/intent/${id}/events`, { headers: { 'last-event-id': 'intent_submitted' } });
  recording.answer({ headers: events.headers, body: { text: await events.text() } });
  const headers = { 'content-type': 'application/jwt' };
  for (const body of [
    jwtOf({ intent: id, state: 'SUBMITTED' }, webhookPublicKey),
    jwtOf({ intent: id }, webhookPublicKey),
    'e.e.e',
  ]) {
    const hook = await fetch(`${origin}/intent/webhook`, { method: 'POST', headers, body });
    recording.answer({ headers: hook.headers, body: { text: await hook.text() } });
  }
  await send('DELETE', '/session');
}

/** Creates a payment and a login from a browser without cookies. */
async function createBoth(recording: Recording, origin: string): Promise<void> {
  const browser = new Browser(origin, new Map(), ownOrigin);
  recording.answer(await browser.send('POST', '/intent', { order: 1 }));
  recording.answer(await browser.send('POST', '/intent', { mode: 'login' }));
}

describe('secrets in logs, errors, headers, bodies and inspect', () => {
  test.each<[string, (app: Express) => void]>([
    ['the sealed cookie', () => undefined],
    [
      'express-session',
      (app) => app.use(session({ secret: canaryOf('session'), resave: false, saveUninitialized: true })),
    ],
  ])('are shown by no route, in success or failure, with logins in %s', async (_name, before) => {
    const recording = new Recording();
    const { origin, router, simulator } = await startRecordedSite(recording, before);
    simulator.answerWith(confirmAll);
    await driveAll(recording, origin);
    for (const [, { proxy: answer }] of faultsOf('proxy').filter(([, { code }]) => code !== 'sequencer_timeout')) {
      simulator.answerWith(answer);
      await createBoth(recording, origin);
    }
    // A site of its own has the short timeout: the calls above must succeed on a busy machine.
    const impatient = await startRecordedSite(recording, before, { sequencer: { timeoutMs: 100 } });
    impatient.simulator.answerWith(() => undefined);
    await createBoth(recording, impatient.origin);
    expect(recording.texts.join('\n')).toContain('sequencer_timeout');
    recording.texts.push(printedForms(router), printedForms(router.client));
    expect(Object.keys(recording.secrets).length).toBeGreaterThan(8);
    expect(recording.texts.length).toBeGreaterThan(60);
    expect(recording.leaks).toEqual([]);
    // Proof that a leak would be found.
    recording.texts.push(
      JSON.stringify(Object.values(recording.secrets).map((secret) => Buffer.from(secret).toString('base64'))),
    );
    expect(recording.leaks).toEqual(Object.keys(recording.secrets));
  });

  test('are not shown with a ledger whose hooks and database fail', async () => {
    const server = await startPostgres();
    const databaseUrl = (await newDatabaseUrl('postgres')).replace('postgres@', `postgres:${canaryOf('database')}@`);
    const recording = new Recording();
    recording.secrets['the password of the database'] = canaryOf('database');
    let failed = 0;
    const { origin, router, simulator } = await startRecordedSite(recording, () => undefined, {
      ledger: { url: databaseUrl },
      onPaid: () => {
        failed += 1;
        throw new Error('no such table: orders');
      },
    });
    simulator.answerWith(confirmAll);
    await driveAll(recording, origin);
    await eventually(() => failed > 0);
    await server.kill();
    const browser = new Browser(origin, new Map(), ownOrigin);
    for (const body of [{ order: 1 }, { mode: 'login' }]) recording.answer(await browser.send('POST', '/intent', body));
    await router.intents.list().catch((error) => recording.texts.push(printedForms(error)));
    recording.texts.push(printedForms(router), printedForms(router.intents), printedForms(router.database));
    expect(recording.texts.join('\n')).toContain('ledger_unavailable');
    expect(recording.leaks).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, Record<string, string | Uint8Array>]>([
    ['a verifier secret', { login: { verifierSecret: `${bs58.encode(seed)}x` } }, { seed, text: bs58.encode(seed) }],
    ['an INTENT_SECRET', { secret: 'secret-canary-short' }, { secret: 'secret-canary-short' }],
    ['a database', { ledger: { url: `postgres://shop:${canaryOf('x')}@[nowhere/shop` } }, { password: canaryOf('x') }],
    [
      'a private key instead of the public key',
      { webhook: { publicKeys: [`${bs58.encode(serviceSeed)}1`] } },
      { serviceSeed },
    ],
    [
      'a wrong type',
      { login: { verifierSecret: seed }, secret: [canaryOf('x')], sequencer: { transport: { key: canaryOf('x') } } },
      { seed, x: canaryOf('x') },
    ],
  ])('are not quoted when the configuration rejects %s', (_name, wrong, secrets) => {
    const login = { domain: 'shop.example' };
    const options = mergeOptions<object>([
      { ...settings, sequencer: { url: 'https://service.example' }, login, destination },
      wrong,
    ]);
    let error: unknown;
    try {
      intentRouter(options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    expect(found(printedForms(error), secrets)).toEqual([]);
  });

  test('are not in the error of a database that cannot be reached', async () => {
    const password = canaryOf('database');
    for (const url of [
      `postgres://shop:${password}@127.0.0.1:2/shop`,
      `postgres://shop:${password}@nowhere.invalid/shop`,
    ]) {
      const db = await openDatabase({ database: { kind: 'postgres', url } });
      const error = await db.query('select 1').catch((reason) => reason);
      expect(error).toMatchObject({ code: 'ledger_unavailable' });
      expect(found(printedForms(error) + printedForms(db), { password })).toEqual([]);
      await db.close();
    }
  });
});

describe('secrets in all output and responses of the tests', () => {
  const clientSecret = '3RbiRuR782EtrXAd7pia1qUYt2j';

  test.each([
    ['a client secret', clientSecret],
    ['the token of a cookie', `__Host-intent=${'A'.repeat(43)}`],
    ['a sealed session', 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..abc.def.ghi'],
    ['the password of a database', 'postgres://shop:opensesame@127.0.0.1/shop'],
    ['a private key', '-----BEGIN PRIVATE KEY-----'],
    ['a private key', `{"kty":"OKP","d":"${'A'.repeat(43)}"}`],
    ['the verifier secret', verifierSecret],
    ['the secret of a test', canaryOf('test')],
  ])('are found by their form: %s', (what, secret) => {
    expect(secretsIn(`before ${secret} after`)).toEqual([expect.stringContaining(`${what}: `)]);
  });

  test.each([
    ['an intent id', '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH'],
    ['a signed JWT', 'eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.AAAA'],
    ['the fix of a setting', 'INTENT_DATABASE_URL=postgres://user:password@host:5432/database'],
  ])('are not found in %s', (_name, text) => {
    expect(secretsIn(text)).toEqual([]);
  });

  test('are found in printed text', () => {
    const printed: unknown[] = [];
    const print = (...words: unknown[]): void => void printed.push(...words);
    const target = { log: print, info: print, warn: print, error: print, debug: print, trace: print };
    watchConsole(target);
    target.warn('%s and %o', canaryOf('print'), { inside: [clientSecret] });
    expect(takeLeaks()).toEqual([
      expect.stringContaining('console.warn: a client secret'),
      expect.stringContaining('console.warn: the secret of a test'),
    ]);
    new LogRecorder().warn('created', { inside: { clientSecret } });
    expect(takeLeaks()).toEqual([expect.stringContaining('a log: a client secret')]);
    const stream = { write: (..._args: unknown[]) => true };
    watchStream(stream);
    stream.write(`\n${clientSecret}\n`);
    expect(takeLeaks()).toEqual([expect.stringContaining('a print: a client secret')]);
    expect(printed).toHaveLength(3);
  });

  test.each<[string, boolean, (res: ServerResponse) => void]>([
    ['the response that returns it', false, (res) => res.writeHead(201).end(`{"client_secret":"${clientSecret}"}`)],
    [
      'the cookie of the browser',
      false,
      (res) => res.setHeader('Set-Cookie', `intent=${'A'.repeat(43)}; Path=/`).end(),
    ],
    ['another status', true, (res) => res.writeHead(200).end(`{"client_secret":"${clientSecret}"}`)],
    ['a header', true, (res) => res.setHeader('Location', `/pay#${clientSecret}`).end()],
    [
      'a stream',
      true,
      (res) => {
        res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(`data: ${clientSecret}\n\n`);
        res.end();
      },
    ],
  ])('are found in a response or allowed there: %s (leak: %j)', async (_name, isLeak, answer) => {
    const origin = await serve((_req, res) => answer(res));
    await request(origin).get('/');
    expect(takeLeaks().length > 0).toBe(isLeak);
  });
});
