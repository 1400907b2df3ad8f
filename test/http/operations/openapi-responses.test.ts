import request from 'supertest';
import { IntentError, SequencerError, type SequencerErrorCode } from '../../../src/errors.js';
import { refuse } from '../../../src/http/hook-errors.js';
import type { SitePaymentTerms } from '../../../src/http/hooks.js';
import { createSigner } from '../../../src/keys/verifier-key.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { type Simulator, startSimulator } from '../../../src/simulator/index.js';
import { Browser } from '../../support/browser/browser.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { Description } from '../../support/sites/described-answers.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite } from '../../support/sites/ledger-site.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import {
  destination,
  orderIn,
  produced,
  type Site,
  type SiteOptions,
  startSite,
  verifierSecret,
} from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';
import { countingTransport } from '../../support/transports/counting-transport.js';
import { pending, StatusTransport } from '../../support/transports/status-transport.js';

// Produces every described response once. All tests that use `startSite` check that each response is as described.

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const service = generateJwtKey();
const json = { 'content-type': 'application/json' };
const elsewhere = { sequencer: { url: 'https://sequencer.example' } };

const everything: SiteOptions = {
  onLogin: () => undefined,
  login: { confirm: true },
  webhook: { publicKeys: [service.publicKey] },
  origin: 'https://shop.example',
  routes: { health: '/healthz' },
};

/** The described responses that this file does not produce, and why. */
const notProduced: Record<string, string> = {
  'followIntent 500 internal_error': 'only a bug causes it',
  'getElement 500 internal_error': 'only missing build files cause it',
  'showSession 500 internal_error': 'only a bug causes it',
  'logOut 500 internal_error': 'only a bug causes it',
  'describeSite 500 internal_error': 'only a bug causes it',
  'getStatus 500 internal_error': 'only a transport that breaks its contract causes it',
  'receiveWebhook 500 internal_error': 'only a bug causes it',
};

const upstream: readonly SequencerErrorCode[] = [
  'sequencer_error',
  'sequencer_bad_status',
  'sequencer_bad_response',
  'sequencer_unreachable',
  'sequencer_unavailable',
  'sequencer_timeout',
];

type Order = {
  readonly refuse?: number;
  readonly throw?: boolean;
  readonly readUser?: boolean;
  readonly terms?: unknown;
};

/** The order selects what the hook does. */
const payment: NonNullable<SiteOptions['payment']> = (req) => {
  const order = (orderIn(req) ?? {}) as Order;
  if (order.refuse) refuse('No.', order.refuse);
  if (order.throw) throw new Error('The orders are not available.');
  if (order.readUser) return { amount: req.intent.user.id, currency: 'usd' };
  return (order.terms ?? { amount: 1, currency: 'usd' }) as SitePaymentTerms;
};

describe('the OpenAPI document describes all responses of', () => {
  let site: LedgerSite;
  let simulator: Simulator;
  let fault: Error | undefined;
  let onLogin: () => void = () => undefined;
  let browser: Browser;

  /** A service that fails with `fault` if that is set. */
  const failing = ({ call, close }: Transport): Transport => ({
    call: async (...args) => {
      if (fault) throw fault;
      return call(...args);
    },
    close,
  });

  beforeAll(async () => {
    simulator = await startSimulator();
    site = await startLedgerSite(
      everything,
      {
        runningSimulator: simulator,
        payment,
        sequencer: { transport: failing(simulator.transport) },
        ledger: { hookLimits: { maxAttempts: 1 } },
        onLogin: () => onLogin(),
      },
      { onPaid: () => undefined, ledger: { url: await newDatabaseUrl('embedded') } },
    );
  });
  afterAll(() => simulator.close());
  beforeEach(() => {
    browser = new Browser(site.origin, new Map(), everything.origin);
    fault = undefined;
    onLogin = () => undefined;
  });

  const pay = (order?: unknown, headers = {}) => browser.send('POST', '/intent', { order }, headers);
  const raw = (method: string, path: string, body: string, headers: object = json) =>
    request(site.origin)
      [method as 'post'](path)
      .set({ 'Sec-Fetch-Site': 'same-origin', ...headers })
      .send(body);
  const everyFault = async (send: () => Promise<unknown>): Promise<void> => {
    for (const code of upstream) {
      fault = new SequencerError(code, 'On purpose.', { retryAfterMs: 60_000 });
      await send();
    }
    fault = new IntentError('too_busy', 'On purpose.', { retryAfterMs: 1_000 });
    await send();
    fault = undefined;
  };

  test('createIntent', async () => {
    await pay();
    await pay(1, { 'idempotency-key': 'a' });
    await pay(2, { 'idempotency-key': 'a' });
    await pay(1, { 'idempotency-key': 'ä' });
    for (const body of ['{', '[]', '{"x":1}', '{"amount":1}', '{"mode":"refund"}', `"${'x'.repeat(5_000)}"`]) {
      await raw('post', '/intent', body);
    }
    await raw('post', '/intent', 'x', { 'content-type': 'text/plain' });
    await raw('post', '/intent', '{}', { ...json, 'Sec-Fetch-Site': 'cross-site' });
    for (const status of [400, 402, 403, 413, 415, 422, 429]) await pay({ refuse: status });
    const terms = { amount: 1, currency: 'usd', destination };
    await pay({ terms: { ...terms, amount: '1.005' } });
    await pay({ throw: true });
    await pay({ readUser: true });
    site.faults.failOnce('recordIntent', 'before');
    await pay();
    await everyFault(pay);
    fault = new SequencerError('sequencer_error', 'On purpose.', { serviceMessage: 'over the maximum' });
    await pay();
    fault = undefined;
  });

  test('createIntent with an amount of the browser', async () => {
    const donations = await startSite(
      { ...everything, ...elsewhere, sequencer: { transport: countingTransport() } },
      { clientAmount: { min: 1, max: 50, currency: 'usd' } },
    );
    const visitor = new Browser(donations.origin, new Map(), everything.origin);
    for (const amount of ['x', '0.50', '51']) await visitor.send('POST', '/intent', { amount });
  });

  test('createIntent and completeLogin with a failing signer', async () => {
    const { publicKey } = createSigner(verifierSecret);
    let isBroken = false;
    const working = createSigner(verifierSecret);
    const signer = { publicKey, sign: (bytes: Uint8Array) => (isBroken ? new Uint8Array(64) : working.sign(bytes)) };
    const other = await startSite(
      { ...elsewhere, sequencer: { transport: simulator.transport } },
      { login: { signer, verifierSecret: undefined }, secret: 's'.repeat(32), onLogin: () => undefined, payment },
    );
    const visitor = new Browser(other.origin, new Map(), everything.origin);
    const created = await visitor.send('POST', '/intent', { mode: 'login' });
    isBroken = true;
    await visitor.send('POST', '/intent', { mode: 'login' });
    await visitor.send('POST', '/session', { id: intentIdOf(String(created.body.client_secret)) });
  });

  test('the rate limits', async () => {
    const limited = await startSite(
      { ...everything, ...elsewhere, sequencer: { transport: countingTransport() } },
      { limits: { requests: { intent: 1, session: 1, status: 1, webhook: 1 } } },
    );
    const visitor = new Browser(limited.origin, new Map(), everything.origin);
    for (let n = 0; n < 2; n += 1) {
      await visitor.send('POST', '/intent', {});
      await visitor.send('POST', '/session', {});
      await visitor.send('DELETE', '/session');
      await visitor.send('GET', '/status/abc');
      await visitor.send('GET', '/intent/abc/events');
      await visitor.send('POST', '/intent/webhook', {});
    }
  });

  test('getStatus', async () => {
    await browser.send('GET', `/status/${id}`);
    await request(site.origin).head(`/status/${id}`).expect(200);
    await browser.send('GET', '/status/abc');
    await browser.send('GET', `/status/${id}`, undefined, { 'sec-fetch-site': 'cross-site' });
    await browser.send('PUT', '/status/abc');
    let n = 0;
    await everyFault(() => browser.send('GET', `/status/${id.slice(0, -1)}${'ABCDEFGHJK'[n++]}`));
  });

  test('followIntent and the data of its events', async () => {
    const secret = String((await pay()).body.client_secret);
    const path = `/intent/${intentIdOf(secret)}/events`;
    await simulator.wallet().pay(secret);
    const { text } = (await browser.send('GET', path)).body;
    const document = await site.router.openApi();
    const described = eventsOf(document);
    const names = [...String(text).matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)].map(
      ([, name = '', data = '']) => {
        const faults = new Description(document).faultsIn(JSON.parse(data), described[name] ?? { not: {} });
        expect([name, faults]).toEqual([name, []]);
        return name;
      },
    );
    expect(names).toEqual(['status', 'intent_submitted']);
    await browser.send('GET', path, undefined, { 'last-event-id': 'intent_submitted' });
    await browser.send('GET', '/intent/abc/events');
    await browser.send('GET', path, undefined, { 'sec-fetch-site': 'cross-site' });
  });

  test('followIntent when all streams are in use', async () => {
    const transport = new StatusTransport();
    transport.answer = pending;
    const streams = { perBrowser: 1, perProcess: 2 };
    const other = await startSite(elsewhere, { sequencer: { transport }, limits: { streams } });
    const { signal, abort } = stoppable();
    const statuses: number[] = [];
    for (const token of ['a', 'a', 'b', 'c']) {
      const headers = { cookie: `intent=${token.repeat(43)}` };
      statuses.push((await fetch(`${other.origin}/intent/${id}/events`, { headers, signal })).status);
    }
    expect(statuses).toEqual([200, 429, 200, 503]);
    abort();
  });

  const startLogin = async (): Promise<{ readonly id: string; readonly secret: string }> => {
    const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
    return { id: intentIdOf(secret), secret };
  };
  const complete = (login: { readonly id: string }) =>
    browser.send('POST', '/session', { id: login.id, confirm: true });

  test('completeLogin', async () => {
    for (const body of ['{', '{"id":"abc"}', `{"id":"${id}","x":1}`, `{"id":"${id}","confirm":7}`, `{"id":"${id}"}`]) {
      await raw('post', '/session', body);
    }
    await raw('post', '/session', `"${'x'.repeat(5_000)}"`);
    await raw('post', '/session', 'x', { 'content-type': 'text/plain' });
    await raw('post', '/session', '{}', { ...json, 'Sec-Fetch-Site': 'cross-site' });
    const login = await startLogin();
    await browser.send('POST', '/session', { id: login.id }, { 'idempotency-key': 'a b' });
    await complete(login);
    await simulator.wallet().login(login.secret);
    for (const status of [400, 402, 403, 404, 409, 413, 415, 429]) {
      onLogin = () => refuse('No.', status);
      await complete(login);
    }
    await everyFault(() => complete(login));
    site.faults.failOnce('canCompleteLogin', 'before');
    await complete(login);
    onLogin = () => undefined;
    await browser.send('POST', '/session', { id: login.id });
    expect((await complete(login)).status).toBe(200);
    await browser.send('GET', '/session');
    const paid = await pay();
    await simulator.wallet().pay(String(paid.body.client_secret));
    await complete({ id: intentIdOf(String(paid.body.client_secret)) });
  });

  test('completeLogin for an intent without a login, and with a hook that throws', async () => {
    const login = await startLogin();
    await simulator.wallet().login(login.secret);
    fault = new IntentError('not_supported', 'This intent is no login.');
    await complete(login);
    fault = undefined;
    onLogin = () => {
      throw new IntentError('guard_missing');
    };
    await complete(login);
    onLogin = () => {
      throw new Error('The users are not available.');
    };
    await complete(login);
  });

  test.each<[string, object]>([
    ['cannot be renewed', { user: 1, intentUser: { id } }],
    ['has a store that fails', { intentUser: { id }, regenerate: fails, save: fails }],
    ['reports a renewal that did not happen', { intentUser: { id }, regenerate: reportsSuccess, save: reportsSuccess }],
  ])('completeLogin and logOut when the session of the app %s', async (_name, session) => {
    const other = await startSite(
      { ...elsewhere, sequencer: { transport: simulator.transport }, onLogin: () => undefined },
      { before: (app) => app.use((req, _res, next) => next(void Object.assign(req, { session }))) },
    );
    simulator.setLocalDomain('shop.example', other.origin);
    const visitor = new Browser(other.origin, new Map(), everything.origin);
    const { body } = await visitor.send('POST', '/intent', { mode: 'login' });
    const secret = String(body.client_secret);
    await simulator.wallet().login(secret);
    await visitor.send('POST', '/session', { id: intentIdOf(secret) });
    await visitor.send('DELETE', '/session');
    simulator.setLocalDomain('shop.example', site.origin);
  });

  test('createIntent when a middleware of the app has read the body', async () => {
    const other = await startSite(
      { ...elsewhere, sequencer: { transport: countingTransport() } },
      { before: (app) => app.use((req, _res, next) => void req.resume().on('end', next)) },
    );
    await request(other.origin).post('/intent').set('sec-fetch-site', 'same-origin').send({}).expect(500);
  });

  test('getStatus and receiveWebhook when the simulator did not start', async () => {
    const port = Number(new URL(simulator.url).port);
    const other = await startSite({ sequencer: { url: 'simulator' }, simulator: { port }, webhook: true });
    await request(other.origin).get(`/status/${id}`).expect(500);
    await request(other.origin).post('/intent/webhook').type('application/jwt').send('a.b.c').expect(500);
  });

  test('logOut', async () => {
    await browser.send('DELETE', '/session');
    await raw('delete', '/session', 'x', { 'content-type': 'text/plain' });
    await raw('delete', '/session', '', { 'sec-fetch-site': 'cross-site' });
  });

  test('receiveWebhook', async () => {
    const jwt = { 'content-type': 'application/jwt' };
    await raw('post', '/intent/webhook', jwtOf({ intent: id, state: 'SUBMITTED' }, service), jwt).expect(200);
    for (const body of ['a.b.c', 'x'.repeat(9_000)]) await raw('post', '/intent/webhook', body, jwt);
    await raw('post', '/intent/webhook', '{}');
    let calls = 0;
    const call = (intent = id) => {
      calls += 1;
      return raw('post', '/intent/webhook', jwtOf({ intent, state: 'SUBMITTED', calls }, service), jwt);
    };
    await everyFault(() => call());
    const secret = String((await pay()).body.client_secret);
    await simulator.wallet().pay(secret);
    site.faults.failOnce('find', 'before');
    await call(intentIdOf(secret)).expect(503);
  });

  test.each([
    '/intent/v1/elements.js',
    '/intent/v1/site.json',
    '/.well-known/service-payments.json',
    '/intent/v1/openapi.json',
  ])('%s', async (path) => {
    await request(site.origin).get(path).expect(200);
    await request(site.origin).get(path).set('If-None-Match', '*').expect(304);
  });

  test('showHealth', async () => {
    // A busy machine may need more than the 0.8 s that a health check waits for the database.
    holdTimeouts(800);
    await request(site.origin).get('/healthz').expect(200);
    const closed = await startClosed();
    await request(closed.origin).get('/healthz').expect(503);
  });

  test('a closed router', async () => {
    const { origin } = await startClosed();
    const visitor = new Browser(origin, new Map(), everything.origin);
    for (const path of ['/intent', '/session', '/intent/webhook']) await visitor.send('POST', path, {});
    await visitor.send('GET', `/status/${id}`);
  });

  // The last test: it checks what the others have produced.
  test('this file, and no response that is never sent', async () => {
    const described = new Description(await site.router.openApi()).all;
    expect(described.filter((name) => !produced.has(name) && !(name in notProduced))).toEqual([]);
    expect(Object.keys(notProduced).filter((name) => produced.has(name) || !described.includes(name))).toEqual([]);
  });
});

async function startClosed(): Promise<Site> {
  const site = await startSite(elsewhere, everything, { sequencer: { transport: countingTransport() } });
  await site.router.close();
  return site;
}

function stoppable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

function fails(done: (error: Error) => void): void {
  done(new Error('The store is down.'));
}

/** Reports a renewal of the session without renewing it. */
function reportsSuccess(done: () => void): void {
  done();
}

function eventsOf({ paths }: Awaited<ReturnType<LedgerSite['router']['openApi']>>): Record<string, object> {
  const path = paths['/intent/{id}/events'] as never as {
    get: { responses: { 200: { content: { 'text/event-stream': { 'x-events': Record<string, object> } } } } };
  };
  return path.get.responses[200].content['text/event-stream']['x-events'];
}
