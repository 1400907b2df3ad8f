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
import { destination, LogRecorder, verifierSecret } from '../support/sites/site.js';
import { begin } from './support/people.js';

// ---- The secrets, and how they can look ----

/** 32 bytes that can be found again in whatever form somebody has printed them. */
const seed = Buffer.from('secret-canary-of-the-verifier-00');
const webhookPublicKey = generateKeyPairSync('ed25519');
const serviceSeed = Buffer.from(String(webhookPublicKey.privateKey.export({ format: 'jwk' }).d), 'base64url');
const serviceId = bs58.encode(Buffer.from(String(webhookPublicKey.publicKey.export({ format: 'jwk' }).x), 'base64url'));
const settings = {
  verifierSecret: `${bs58.encode(seed)},${bs58.encode(Buffer.alloc(32, 9))}`,
  secret: `${canaryOf('cookies')},${canaryOf('cookies-of-before')}`,
};

/** Bytes, or the bytes of a text, as they might be written. */
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

/** What of these secrets is in a text, in whatever form. */
function found(text: string, secrets: Readonly<Record<string, string | Uint8Array>>): string[] {
  const plain = text.replaceAll(/\s*,\s*/g, ',');
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => plain.includes(form)))
    .map(([name]) => name);
}

/** Everything that can be seen of a value by looking at it. */
function lookedAt(value: unknown): string {
  const deep = inspect(value, { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null });
  const error = value instanceof Error ? `${value.message} ${value.stack} ${inspect(value.cause, { depth: 12 })}` : '';
  return `${deep}\n${JSON.stringify(value)}\n${error}\n${String(value)}`;
}

// ---- A site that tells all ----

const ownOrigin = 'https://shop.example';

/** What was said of anything by anybody: logs, answers, errors. */
class Heard {
  readonly texts: string[] = [];
  readonly secrets: Record<string, string | Uint8Array> = {
    'the verifier secret': seed,
    INTENT_SECRET: canaryOf('cookies'),
    'INTENT_SECRET of before': canaryOf('cookies-of-before'),
    "the service's key": serviceSeed,
  };

  readonly logger = {
    warn: (...line: unknown[]): void => void this.texts.push(line.map(lookedAt).join('\n')),
    error: (...line: unknown[]): void => void this.texts.push(line.map(lookedAt).join('\n')),
  };

  /** Hears an answer, and learns what is secret about it: the client secret and the cookies are this browser's alone. */
  answer({ headers, body }: { headers: Headers; body: Record<string, unknown> }): void {
    const n = Object.keys(this.secrets).length;
    const { client_secret: clientSecret, ...rest } = body;
    if (typeof clientSecret === 'string') this.secrets[`client secret ${n}`] = clientSecret;
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]{20,})/.exec(line) ?? [];
      if (name && value) this.secrets[`cookie ${name} ${n}`] = value;
    }
    const said = [...headers].filter(([name]) => name !== 'set-cookie');
    this.texts.push(`${JSON.stringify(said)}\n${JSON.stringify(rest)}`);
  }

  get leaks(): string[] {
    return found(this.texts.join('\n'), this.secrets);
  }
}

const routers: ReturnType<typeof intentRouter>[] = [];
afterAll(async () => {
  for (const router of routers) await router.close();
});

async function startTellingSite(heard: Heard, before: (app: Express) => void, more: IntentRouterOptions = {}) {
  const { default: express } = await import('express');
  const sequencer = await faultSequencer(ok());
  const app = express();
  before(app);
  const router = intentRouter({
    ...settings,
    sequencerUrl: sequencer.url,
    timeoutMs: 100,
    domain: 'shop.example',
    destination,
    webhook: true,
    webhookPublicKey: serviceId,
    origin: ownOrigin,
    logger: heard.logger,
    payment: (req) => {
      if (req.body.order === 'refused') throw Object.assign(new Error('No.'), { status: 404, expose: true });
      if (req.body.order === 'broken') throw new TypeError('Cannot read properties of undefined');
      if (req.body.order === 'wrong') return { amount: '0.001', currency: 'usd' };
      return { amount: 5, currency: 'usd' };
    },
    onCreated: (_record, req) => {
      if (req.body.order === 'lost') throw new Error('The disk is full.');
    },
    ...more,
  });
  routers.push(router);
  app.use(router);
  app.get('/account', requireLogin(), (_req, res) => void res.json({ in: true }));
  return { origin: await serve(app), router, sequencer };
}

const confirmed = ok(encode(v1.GetLoginForThirdPartyAppResponse, { userId: { value: new Uint8Array(32).fill(5) } }));
const paid = ok(encode(v1.GetStatusResponse, { exists: true, codeScanned: true, intentSubmitted: true }));
const answers: Readonly<Record<string, Answer>> = { getLoginForThirdPartyApp: confirmed, getStatus: paid };
/** Everybody has confirmed their login, and paid. */
const confirming: Answer = (call, res, req) => (answers[call.operation.method] ?? ok())(call, res, req);

/** Goes through every route, by every way to be refused there, with a browser that has all its cookies. */
async function driveAll(heard: Heard, origin: string): Promise<void> {
  const browser = new Browser(origin, new Map(), ownOrigin);
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    heard.answer(await browser.send(method, path, body));
  };
  for (const order of [1, 'refused', 'broken', 'wrong', 'lost', { nested: true }])
    await send('POST', '/intent', { order });
  for (const body of [{ amount: 1 }, { mode: 'x' }, { x: 1 }, [], 'x'.repeat(5_000)])
    await send('POST', '/intent', body);
  const { secret, id } = await begin(browser);
  heard.secrets['the login in progress'] = secret;
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
  heard.answer({ headers: events.headers, body: { text: await events.text() } });
  const headers = { 'content-type': 'application/jwt' };
  for (const body of [
    jwtOf({ intent: id, state: 'SUBMITTED' }, webhookPublicKey),
    jwtOf({ intent: id }, webhookPublicKey),
    'e.e.e',
  ]) {
    const hook = await fetch(`${origin}/intent/webhook`, { method: 'POST', headers, body });
    heard.answer({ headers: hook.headers, body: { text: await hook.text() } });
  }
  await send('DELETE', '/session');
}

describe('secrets in logs, errors, headers, bodies and inspect', () => {
  test.each<[string, (app: Express) => void]>([
    ['the sealed cookie', () => undefined],
    [
      'express-session',
      (app) => app.use(session({ secret: canaryOf('session'), resave: false, saveUninitialized: true })),
    ],
  ])('no route shows one, whatever goes right or wrong, with logins in %s', async (_name, before) => {
    const heard = new Heard();
    const { origin, router, sequencer } = await startTellingSite(heard, before);
    sequencer.answerWith(confirming);
    await driveAll(heard, origin);
    // One timeout stands for all.
    const faults = faultsOf('proxy').filter(([name, { code }]) => code !== 'sequencer_timeout' || name === 'no answer');
    for (const [, { proxy: answer }] of faults) {
      sequencer.answerWith(answer);
      const browser = new Browser(origin, new Map(), ownOrigin);
      heard.answer(await browser.send('POST', '/intent', { order: 1 }));
      heard.answer(await browser.send('POST', '/intent', { mode: 'login' }));
    }
    heard.texts.push(lookedAt(router), lookedAt(router.client));
    expect(Object.keys(heard.secrets).length).toBeGreaterThan(8);
    expect(heard.texts.length).toBeGreaterThan(60);
    expect(heard.leaks).toEqual([]);
    // The one place where they are to be seen shows that they would be.
    heard.texts.push(
      JSON.stringify(Object.values(heard.secrets).map((secret) => Buffer.from(secret).toString('base64'))),
    );
    expect(heard.leaks).toEqual(Object.keys(heard.secrets));
  });

  test('nor with a ledger, whose hooks fail, and whose database goes away', async () => {
    const server = await startPostgres();
    const databaseUrl = (await newDatabaseUrl('postgres')).replace('postgres@', `postgres:${canaryOf('database')}@`);
    const heard = new Heard();
    heard.secrets['the password of the database'] = canaryOf('database');
    let failed = 0;
    const { origin, router, sequencer } = await startTellingSite(heard, () => undefined, {
      databaseUrl,
      onPaid: () => {
        failed += 1;
        throw new Error('no such table: orders');
      },
    });
    sequencer.answerWith(confirming);
    await driveAll(heard, origin);
    await eventually(() => failed > 0);
    await server.kill();
    const browser = new Browser(origin, new Map(), ownOrigin);
    for (const body of [{ order: 1 }, { mode: 'login' }]) heard.answer(await browser.send('POST', '/intent', body));
    await router.intents.list().catch((error) => heard.texts.push(lookedAt(error)));
    heard.texts.push(lookedAt(router), lookedAt(router.intents), lookedAt(router.database));
    expect(heard.texts.join('\n')).toContain('ledger_unavailable');
    expect(heard.leaks).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, Record<string, string | Uint8Array>]>([
    ['a verifier secret', { verifierSecret: `${bs58.encode(seed)}x` }, { seed, text: bs58.encode(seed) }],
    [
      'a verifier secret of half its length',
      { verifierSecret: bs58.encode(seed.subarray(0, 16)) },
      { seed: seed.subarray(0, 16) },
    ],
    ['an INTENT_SECRET', { secret: 'secret-canary-short' }, { secret: 'secret-canary-short' }],
    ['a database', { databaseUrl: `postgres://shop:${canaryOf('x')}@[nowhere/shop` }, { password: canaryOf('x') }],
    [
      'a database of another kind',
      { databaseUrl: `mysql://shop:${canaryOf('x')}@host/shop` },
      { password: canaryOf('x') },
    ],
    [
      'a private key for the public one',
      { webhook: true, webhookPublicKey: `${bs58.encode(serviceSeed)}1` },
      { serviceSeed },
    ],
    [
      'a sequencer with a password',
      { sequencerUrl: `https://user:${canaryOf('x')}@host` },
      { password: canaryOf('x') },
    ],
    [
      'a wrong type',
      { verifierSecret: seed, secret: [canaryOf('x')], transport: { key: canaryOf('x') } },
      { seed, x: canaryOf('x') },
    ],
  ])('the refusal of %s that is wrong does not quote it', (_what, wrong, secrets) => {
    const options = { ...settings, sequencerUrl: 'https://service.example', domain: 'shop.example', destination };
    let error: unknown;
    try {
      intentRouter({ ...options, ...wrong } as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    expect(found(lookedAt(error), secrets)).toEqual([]);
  });

  test('a database that cannot be reached is told without its password', async () => {
    const password = canaryOf('database');
    for (const url of [
      `postgres://shop:${password}@127.0.0.1:2/shop`,
      `postgres://shop:${password}@nowhere.invalid/shop`,
    ]) {
      const db = await openDatabase({ database: { kind: 'postgres', url } });
      const error = await db.query('select 1').catch((reason) => reason);
      expect(error).toMatchObject({ code: 'ledger_unavailable' });
      expect(found(lookedAt(error) + lookedAt(db), { password })).toEqual([]);
      await db.close();
    }
  });
});

describe('secrets in what is printed and sent, during all tests', () => {
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
  ])('%s is known by its form', (what, secret) => {
    expect(secretsIn(`before ${secret} after`)).toEqual([expect.stringContaining(`${what}: `)]);
  });

  test.each([
    ['an intent id', '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH'],
    ['another word of that length', 'abcdefghijkmnopqrstuvwxyzAB'],
    ['a hash', `sha256-${'A'.repeat(43)}=`],
    ['a JWT that is signed', 'eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.AAAA'],
    ['the line that mends', 'INTENT_DATABASE_URL=postgres://user:password@host:5432/database'],
  ])('%s is none', (_what, text) => {
    expect(secretsIn(text)).toEqual([]);
  });

  test('it is seen in what is printed', () => {
    const said: unknown[] = [];
    const say = (...words: unknown[]): void => void said.push(...words);
    const target = { log: say, info: say, warn: say, error: say, debug: say, trace: say };
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
    expect(said).toHaveLength(3);
  });

  test.each<[string, boolean, (res: ServerResponse) => void]>([
    ['the answer that hands it over', false, (res) => res.writeHead(201).end(`{"client_secret":"${clientSecret}"}`)],
    [
      'the same in parts',
      false,
      (res) => {
        res.writeHead(201).write('{"client_secret":');
        res.end(`"${clientSecret}"}`);
      },
    ],
    [
      'the cookie of the browser',
      false,
      (res) => res.setHeader('Set-Cookie', `intent=${'A'.repeat(43)}; Path=/`).end(),
    ],
    ['another status', true, (res) => res.writeHead(200).end(`{"client_secret":"${clientSecret}"}`)],
    ['something beside it', true, (res) => res.writeHead(201).end(`{"client_secret":"${clientSecret}","x":1}`)],
    ['a header', true, (res) => res.setHeader('Location', `/pay#${clientSecret}`).end()],
    ['the cookie in another header', true, (res) => res.setHeader('X-Cookie', `intent=${'A'.repeat(43)}`).end()],
    [
      'a stream',
      true,
      (res) => {
        res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(`data: ${clientSecret}\n\n`);
        res.end();
      },
    ],
  ])('in an answer: %s (%j)', async (_what, isLeak, answer) => {
    const origin = await serve((_req, res) => answer(res));
    await request(origin).get('/');
    expect(takeLeaks().length > 0).toBe(isLeak);
  });
});
