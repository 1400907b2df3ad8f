import express, { type Express } from 'express';
import request from 'supertest';
import type { LoginOptions, WebhookOptions } from '../../src/config/config-options.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { type Simulator, sameOriginHeaders, startSimulator } from '../../src/testing.js';
import { type ExpressFactory, expressVersions, LogRecorder } from '../support/sites/site.js';

// A site under supertest does not listen: each request has its own port.

let simulator: Simulator;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => simulator.close());

function appWith(options: object, factory: ExpressFactory = express, before?: (app: Express) => void): Express {
  const router = intentRouter({
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    logger: new LogRecorder(),
    ...options,
  });
  closers.push(() => router.close());
  const app = factory();
  before?.(app);
  return app.use(router);
}

async function begin(browser: ReturnType<typeof request.agent>, mode: 'payment' | 'login'): Promise<string> {
  const { body } = await browser.post('/intent').send({ mode }).expect(201);
  return body.client_secret;
}

describe.each(Object.entries(expressVersions))('a site on %s', (_name, factory) => {
  test('takes payments and logins with the options of the sequencer alone', async () => {
    const browser = request.agent(appWith(simulator.siteOptions(), factory)).set(sameOriginHeaders);
    const payment = await simulator.wallet('Ada').pay(await begin(browser, 'payment'));
    expect(payment).toMatchObject({ amount: '4.50', destination: simulator.siteOptions().destination });
    const flags = { exists: true, code_scanned: true, intent_submitted: true };
    await browser.get(`/status/${payment.id}`).expect(200, flags);

    const { id, userId } = await simulator.wallet('Ada').login(await begin(browser, 'login'));
    expect(userId).toBe(simulator.wallet('Ada').userId('shop.example'));
    await browser
      .post('/session')
      .send({ id })
      .expect(200, { user: { id: userId } });
  });

  test('has its key file read from the app', async () => {
    const options = simulator.siteOptions({ login: { domain: 'read.example' } });
    const app = appWith(options, factory);
    simulator.setLocalDomain('read.example', app);
    await begin(request.agent(app).set(sameOriginHeaders), 'login');

    // A middleware that blocks all requests also blocks the key file, and logins fail.
    const gated = appWith(options, factory, (inner) => {
      inner.get(/.*/, (_req, res) => void res.status(401).end());
    });
    simulator.setLocalDomain('read.example', gated);
    const answer = await request(gated).post('/intent').set(sameOriginHeaders).send({ mode: 'login' });
    expect([answer.status, answer.body.code]).toEqual([502, 'intent_refused']);
  });
});

test('a request without sameOriginHeaders is rejected', async () => {
  const app = appWith(simulator.siteOptions());
  const refused = await request(app).post('/intent').send({ mode: 'payment' }).expect(403);
  expect(refused.body.code).toBe('cross_site_request');
  await request(app).post('/intent').set(sameOriginHeaders).send({ mode: 'payment' }).expect(201);
});

test('an undefined domain is that of the default', () => {
  expect(simulator.siteOptions({ login: { domain: undefined } }).login).toMatchObject({ domain: 'shop.example' });
});

test('the environment variables are equivalent to the options', () => {
  const { sequencer, login, button, webhook, destination } = simulator.siteOptions({ webhook: true });
  expect(simulator.siteEnvironment()).toEqual({
    INTENT_SEQUENCER_URL: sequencer?.url,
    INTENT_WALLET_URL: button?.walletUrl,
    INTENT_VERIFIER_SECRET: (login as LoginOptions).verifierSecret,
    INTENT_DOMAIN: 'shop.example',
    INTENT_DESTINATION: destination,
    INTENT_WEBHOOK_PUBLIC_KEY: (webhook as WebhookOptions).publicKeys?.[0],
  });
});

test('trust accepts a custom key of a domain and rejects any other', async () => {
  const [own, foreign] = [generateKeyPair(), generateKeyPair()];
  const options = simulator.siteOptions({ login: { domain: 'own.example', verifierSecret: own.secret } });
  const app = appWith(options);
  simulator.trust('own.example', [foreign.publicKey]);
  await request(app).post('/intent').set(sameOriginHeaders).send({ mode: 'login' }).expect(502);
  simulator.trust('own.example', [foreign.publicKey, own.publicKey]);
  await request(app).post('/intent').set(sameOriginHeaders).send({ mode: 'login' }).expect(201);
  expect(() => simulator.trust('own.example', ['no key'])).toThrow(expect.objectContaining({ code: 'invalid_key' }));
});

test('injectFault rejects unknown faults and settings that do not fit', async () => {
  const app = appWith(simulator.siteOptions());
  const end = simulator.injectFault('error');
  await request(app).post('/intent').set(sameOriginHeaders).send({ mode: 'payment' }).expect(502);
  end();
  simulator.injectFault({ kind: 'delay', ms: 1, times: 1 });
  await request(app).post('/intent').set(sameOriginHeaders).send({ mode: 'payment' }).expect(201);
  // @ts-expect-error An unknown fault.
  expect(() => simulator.injectFault('sulk')).toThrow(/`kind`: /);
  // @ts-expect-error Only delays and drips have a time.
  expect(() => simulator.injectFault({ kind: 'disconnect', ms: 10 })).toThrow(/disconnect does not accept `ms`/);
  // @ts-expect-error Only messages can be duplicated.
  expect(() => simulator.injectFault({ kind: 'duplicate', operations: ['getStatus'] })).toThrow(
    /duplicate applies only to/,
  );
});
