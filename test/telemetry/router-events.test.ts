import { jest } from '@jest/globals';
import type { RouterEventType } from '../../src/index.js';
import { parseClientSecret } from '../../src/intents/payload.js';
import { migrate } from '../../src/ledger/migrations/migrate.js';
import { routerLedger } from '../../src/router/ledger.js';
import { unsubmittedTtlMs } from '../../src/sequencer/watch/status-cache.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl, openTestDatabase } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { post } from '../support/sites/post.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { orderIn, type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { pending, StatusTransport, submitted } from '../support/transports/status-transport.js';
import { EventRecorder } from './event-recorder.js';

const hourMs = 3_600_000;
const service = generateJwtKey();
const intent = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';

/** Timeouts that no test reaches: a retry would be one more attempt. */
const ample = { sequencer: { timeoutMs: 160_000 } };

const start = async (options: SiteOptions = {}) => {
  const recorder = new EventRecorder();
  const site = await startSite(
    {
      sequencer: { transport: countingTransport() },
      payment: () => ({ amount: '4.50', currency: 'usd' }),
      onEvent: recorder.onEvent,
    },
    options,
  );
  return { ...site, recorder, browser: new Browser(site.origin) };
};

const startWithSimulator = async (options: SiteOptions = {}) => {
  const recorder = new EventRecorder();
  const site = await startSiteWithSimulator({ onEvent: recorder.onEvent, ...ample, ...options });
  return { ...site, recorder, browser: new Browser(site.origin) };
};

/** A created intent with an open event stream. */
const startAndListen = async (asked: object) => {
  const site = await startWithSimulator();
  const { body } = await site.browser.send('POST', '/intent', asked);
  const secret = String(body.client_secret);
  const id = intentIdOf(secret);
  const stream = new RawStream(site.origin, `/intent/${id}/events`);
  await stream.has('event: status');
  return { ...site, secret, id, stream };
};

/** One site with a ledger for all events. The order of a payment sets the behavior of its hooks. */
let shop: LedgerSite;
const ledgerEvents = new EventRecorder();

beforeAll(async () => {
  shop = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres'), hookLimits: { maxAttempts: 2 } },
    onEvent: ledgerEvents.onEvent,
    payment: (req) => ({ amount: '4.50', currency: 'usd', metadata: { order: orderIn(req) ?? 'tea' } }),
    onPaid: (payment, { attempt }) => {
      if (payment.metadata.order === 'broken') throw new Error(`The printer is on fire.${'!'.repeat(500)}`);
      if (payment.metadata.order === 'shaky' && attempt === 1) throw new Error('Not now.');
    },
    verifyPayment: () => true,
    onReversed: () => undefined,
    onDeadLetter: () => {
      throw new Error('The listener failed.');
    },
    timing: { roundMs: 20, watchFirstMs: hourMs, retryFirstMs: 1, reversalFirstMs: hourMs, reversalConfirmMs: 1 },
  });
});

/** Creates a payment; `pay` pays it in the wallet and requests a recheck. */
const begin = async (order = 'tea', headers = {}) => {
  const browser = new Browser(shop.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'payment', order }, headers);
  const secret = String(body.client_secret);
  const id = intentIdOf(secret);
  const pay = async () => {
    await shop.simulator.wallet().pay(secret);
    await browser.send('GET', `/status/${id}`);
  };
  return { id, secret, browser, pay };
};

const update = (changes: string, id: string) =>
  shop.router.database.query(`update express_intents.payments set ${changes} where intent_id = $1`, [id]);

const hooksOf = (id: string) =>
  ledgerEvents.events.flatMap((event) =>
    (event.type === 'hook_completed' || event.type === 'hook_failed') && event.intent === id ? [event] : [],
  );

const atMs = expect.any(Number);
const durationMs = expect.any(Number);

/** For every event type: what causes it, and its fields. */
const causes: Record<RouterEventType, () => Promise<void>> = {
  intent_created: async () => {
    const { recorder, browser } = await start();
    const { body } = await browser.send('POST', '/intent', {});
    const id = intentIdOf(String(body.client_secret));
    const payment = { type: 'intent_created', atMs, intent: id, kind: 'payment', amount: '4.50', currency: 'usd' };
    expect(await recorder.first('intent_created')).toEqual(payment);
    await browser.send('POST', '/intent', { mode: 'login' });
    expect((await recorder.times(2, 'intent_created')).map(({ kind }) => kind)).toEqual(['payment', 'login']);
  },

  intent_replayed: async () => {
    const key = { 'idempotency-key': '7c9e6679-7425-40de-944b-e07fc1f90ae7' };
    const { id, browser } = await begin('tea', key);
    await browser.send('POST', '/intent', { mode: 'payment', order: 'tea' }, key);
    expect(await ledgerEvents.first('intent_replayed', id)).toEqual({
      ...{ type: 'intent_replayed', atMs, intent: id, kind: 'payment' },
    });
    expect(ledgerEvents.of('intent_created').filter((event) => event.intent === id)).toHaveLength(1);
  },

  intent_failed: async () => {
    const { recorder, browser, origin } = await start({ login: false });
    await browser.send('POST', '/intent', { mode: 'login' });
    expect(await recorder.first('intent_failed')).toEqual({
      ...{ type: 'intent_failed', atMs, code: 'not_supported', kind: 'login' },
    });
    await post(origin).set('Sec-Fetch-Site', 'cross-site').send({});
    await browser.send('GET', '/intent');
    const refused = await recorder.times(2, 'intent_failed');
    expect(refused.map(({ code }) => code)).toEqual(['not_supported', 'cross_site_request']);
  },

  code_scanned: async () => {
    const { recorder, simulator, secret, id } = await startAndListen({});
    await simulator.wallet().scan(secret);
    expect(await recorder.first('code_scanned')).toEqual({ type: 'code_scanned', atMs, intent: id });
  },

  intent_declined: async () => {
    const { recorder, simulator, secret, id } = await startAndListen({ mode: 'login' });
    await simulator.wallet().decline(secret);
    expect(await recorder.first('intent_declined')).toEqual({
      type: 'intent_declined',
      atMs,
      intent: id,
      kind: 'login',
    });
  },

  intent_submitted: async () => {
    const { recorder, browser, simulator, secret, id, stream } = await startAndListen({});
    await simulator.wallet().pay(secret);
    await stream.has('event: intent_submitted');
    await browser.send('GET', `/status/${id}`);
    const expected = { type: 'intent_submitted', atMs, intent: id, kind: 'payment', source: 'stream' };
    expect(await recorder.first('intent_submitted')).toEqual(expected);
    expect(await recorder.times(1, 'intent_submitted')).toHaveLength(1);
  },

  payment_late: async () => {
    const recorder = new EventRecorder();
    const databaseUrl = await newDatabaseUrl('postgres');
    const makeLedger: SiteOptions['makeLedger'] = (parts) => {
      const { config } = parts;
      const ledger = config.ledger && { ...config.ledger, lateAfterMs: 1 };
      return routerLedger({ ...parts, config: { ...config, ledger } });
    };
    const site = await startLedgerSite({ ledger: { url: databaseUrl }, makeLedger, onEvent: recorder.onEvent });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', {});
    const id = intentIdOf(String(body.client_secret));
    await site.simulator.wallet().pay(String(body.client_secret));
    await browser.send('GET', `/status/${id}`);
    const late = await recorder.first('payment_late', id);
    expect(late).toEqual({ type: 'payment_late', atMs, intent: id, afterMs: durationMs });
    expect(late.afterMs).toBeGreaterThan(1);
    expect(await recorder.first('payment_settled', id)).toMatchObject({ late: true });
  },

  payment_settled: async () => {
    const { id, pay } = await begin();
    await pay();
    expect(await ledgerEvents.first('payment_settled', id)).toEqual({
      ...{ type: 'payment_settled', atMs, intent: id, amount: '4.50', currency: 'usd', late: false },
      lagMs: expect.any(Number),
    });
    expect(ledgerEvents.of('intent_submitted').filter((event) => event.intent === id)).toEqual([
      { type: 'intent_submitted', atMs, intent: id, kind: 'payment', source: 'status' },
    ]);
  },

  payment_reversed: async () => {
    const { id, pay } = await begin();
    await pay();
    await ledgerEvents.first('payment_settled', id);
    shop.simulator.reverse(id);
    await update('due_at = now()', id);
    expect(await ledgerEvents.first('payment_reversed', id)).toEqual({
      ...{ type: 'payment_reversed', atMs, intent: id, amount: '4.50', currency: 'usd', wasSettled: true },
    });
  },

  payment_expired: async () => {
    const { id } = await begin();
    await update(`watch_until = now() - interval '1 second', due_at = now()`, id);
    expect(await ledgerEvents.first('payment_expired', id)).toEqual({ type: 'payment_expired', atMs, intent: id });
  },

  hook_completed: async () => {
    const { id, pay } = await begin('shaky');
    await pay();
    await ledgerEvents.first('payment_settled', id);
    expect(hooksOf(id).map(({ type, hook, attempt }) => [type, hook, attempt])).toEqual([
      ['hook_completed', 'verifyPayment', 1],
      ['hook_failed', 'onPaid', 1],
      ['hook_completed', 'verifyPayment', 1],
      ['hook_completed', 'onPaid', 2],
    ]);
    const completed = { type: 'hook_completed', atMs, intent: id, hook: 'verifyPayment', attempt: 1, durationMs };
    expect(hooksOf(id)[0]).toEqual(completed);
  },

  hook_failed: async () => {
    const { id, pay } = await begin('shaky');
    await pay();
    const failed = {
      type: 'hook_failed',
      atMs,
      intent: id,
      hook: 'onPaid',
      attempt: 1,
      durationMs,
      error: 'Error: Not now.',
    };
    expect(await ledgerEvents.first('hook_failed', id)).toEqual(failed);
  },

  dead_letter: async () => {
    const { id, pay } = await begin('broken');
    await pay();
    const { error, ...letter } = await ledgerEvents.first('dead_letter', id);
    expect(letter).toEqual({ type: 'dead_letter', atMs, intent: id, hook: 'onPaid', attempts: 2 });
    expect(error).toMatch(/^Error: The printer is on fire\.!+$/);
    expect(error).toHaveLength(200);
    await untilState(shop, id, 'dead');
    const reported = { type: 'hook_failed', hook: 'onDeadLetter', attempt: 1 };
    await eventually(() => expect(hooksOf(id).at(-1)).toMatchObject(reported));
  },

  login_completed: async () => {
    const { recorder, browser, simulator } = await startWithSimulator();
    const { body } = await browser.send('POST', '/intent', { mode: 'login' });
    const id = intentIdOf(String(body.client_secret));
    await browser.send('POST', '/session', { id });
    await simulator.wallet().login(String(body.client_secret));
    await browser.send('POST', '/session', { id });
    expect(await recorder.first('login_completed')).toEqual({ type: 'login_completed', atMs, intent: id });
    expect(recorder.of('login_failed').map(({ code }) => code)).toEqual(['login_pending']);
  },

  login_failed: async () => {
    const { recorder, browser } = await start();
    await browser.send('POST', '/session', { id: intent });
    expect(await recorder.first('login_failed')).toEqual({ type: 'login_failed', atMs, code: 'intent_not_found' });
  },

  logged_out: async () => {
    const { recorder, browser } = await start();
    await browser.send('DELETE', '/session');
    expect(await recorder.first('logged_out')).toEqual({ type: 'logged_out', atMs });
  },

  webhook_received: async () => {
    const transport = new StatusTransport();
    const { recorder, origin } = await start({
      ...{ sequencer: { transport }, webhook: { publicKeys: [service.publicKey] }, origin: 'https://shop.example' },
    });
    transport.answerWith(submitted);
    const jwt = jwtOf({ intent, state: 'SUBMITTED' }, service);
    await post(origin, '/intent/webhook').set('Content-Type', 'application/jwt').send(jwt).expect(200);
    expect(await recorder.first('webhook_received')).toEqual({ type: 'webhook_received', atMs, intent });
    const expected = { type: 'intent_submitted', atMs, intent, kind: undefined, source: 'webhook' };
    expect(await recorder.first('intent_submitted')).toEqual(expected);
  },

  webhook_rejected: async () => {
    const { recorder, origin } = await start({
      ...{ webhook: { publicKeys: [service.publicKey] }, origin: 'https://shop.example' },
    });
    await post(origin, '/intent/webhook').set('Content-Type', 'application/jwt').send('a.b.c').expect(400);
    expect(await recorder.first('webhook_rejected')).toEqual({
      type: 'webhook_rejected',
      atMs,
      code: 'invalid_webhook',
    });
    expect(recorder.of('webhook_received')).toEqual([]);
  },

  rate_limited: async () => {
    const { recorder, browser } = await start({ limits: { requests: { intent: 1 } } });
    await browser.send('POST', '/intent', {});
    await browser.send('POST', '/intent', {});
    expect(await recorder.first('rate_limited')).toEqual({ type: 'rate_limited', atMs, route: 'intent' });
    expect(recorder.of('intent_failed')).toEqual([]);
  },

  stream_opened: async () => {
    const { recorder, origin } = await start();
    new RawStream(origin, `/intent/${intent}/events`);
    expect(await recorder.first('stream_opened')).toEqual({ type: 'stream_opened', atMs, intent });
  },

  stream_closed: async () => {
    const { recorder, origin } = await start();
    const { socket } = new RawStream(origin, `/intent/${intent}/events`);
    await recorder.first('stream_opened');
    socket.destroy();
    expect(await recorder.first('stream_closed')).toEqual({ type: 'stream_closed', atMs, intent, durationMs });
  },

  stream_rejected: async () => {
    const transport = new StatusTransport();
    transport.answerWith(pending);
    const { recorder, origin } = await start({ sequencer: { transport }, limits: { streams: { perAddress: 1 } } });
    await new RawStream(origin, `/intent/${intent}/events`).has('event: status');
    new RawStream(origin, `/intent/${intent}/events`);
    expect(await recorder.first('stream_rejected')).toEqual({
      ...{ type: 'stream_rejected', atMs, intent, code: 'too_many_connections' },
    });
    expect(await recorder.times(1, 'stream_opened')).toHaveLength(1);
  },

  upstream_call: async () => {
    const { recorder, browser, simulator } = await startWithSimulator();
    const stop = simulator.injectFault({ kind: 'disconnect', operations: ['getStatus'], times: 1 });
    await browser.send('GET', `/status/${intent}`);
    stop();
    expect(await recorder.first('upstream_call')).toEqual({
      ...{ type: 'upstream_call', atMs, operation: 'MicroPayment.getStatus' },
      ...{ transport: 'http', outcome: 'ok', attempts: 2, durationMs },
    });
    simulator.injectFault({ kind: 'disconnect', operations: ['createIntent'] });
    await browser.send('POST', '/intent', {});
    expect((await recorder.times(2, 'upstream_call'))[1]).toMatchObject({
      outcome: 'sequencer_unreachable',
      // One of them on the connection of the call before.
      attempts: 4,
    });
  },

  breaker_opened: async () => {
    const { recorder, browser, simulator } = await startWithSimulator();
    // An open circuit stays open.
    const nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    simulator.injectFault({ kind: 'disconnect', operations: ['getStatus'] });
    await browser.send('GET', `/status/${intent}`);
    await browser.send('GET', `/status/${intent}`);
    const expected = { type: 'breaker_opened', atMs, operation: 'MicroPayment.getStatus' };
    expect(await recorder.first('breaker_opened')).toEqual(expected);
    await browser.send('GET', `/status/${intent}`);
    expect((await recorder.times(3, 'upstream_call')).at(-1)).toMatchObject({
      outcome: 'sequencer_unavailable',
      attempts: 0,
    });
    expect(recorder.of('breaker_opened')).toHaveLength(1);
  },

  breaker_closed: async () => {
    const clock = jest.spyOn(performance, 'now');
    const { recorder, browser, simulator } = await startWithSimulator();
    // The status of an unknown intent has no bytes, which would not show that the sequencer has recovered.
    const { body } = await browser.send('POST', '/intent', {});
    const path = `/status/${intentIdOf(String(body.client_secret))}`;
    const stop = simulator.injectFault({ kind: 'disconnect', operations: ['getStatus'] });
    await browser.send('GET', path);
    await browser.send('GET', path);
    await recorder.first('breaker_opened');
    // A failed probe keeps it open, and emits no event.
    const [soon, later] = [performance.now() + 6_000, performance.now() + 12_000];
    clock.mockImplementation(() => soon);
    await browser.send('GET', path);
    stop();
    clock.mockImplementation(() => later);
    await browser.send('GET', path);
    clock.mockRestore();
    const expected = { type: 'breaker_closed', atMs, operation: 'MicroPayment.getStatus' };
    expect(await recorder.first('breaker_closed')).toEqual(expected);
    expect(recorder.of('breaker_opened')).toHaveLength(1);
  },

  ledger_unavailable: async () => {
    const { recorder } = await start({ ledger: { url: 'postgres://shop:hunter2@127.0.0.1:1/shop' } });
    const expected = { type: 'ledger_unavailable', atMs, code: 'ledger_unavailable' };
    expect(await recorder.first('ledger_unavailable')).toEqual(expected);
    expect(JSON.stringify(recorder.events)).not.toContain('hunter2');
  },

  ledger_recovered: async () => {
    const database = await openTestDatabase('postgres', { migrated: false });
    const { recorder } = await start({ ledger: { url: database.url, migrate: false } });
    expect(await recorder.first('ledger_unavailable')).toMatchObject({ code: 'invalid_configuration' });
    await migrate(database.db);
    expect(await recorder.first('ledger_recovered')).toEqual({ type: 'ledger_recovered', atMs });
  },
};

test.each(Object.entries(causes))('the router emits %s', async (_type, cause) => cause());

test('code_scanned precedes intent_submitted when one status reports both and ends the watch', async () => {
  const clock = { nowMs: Date.now() };
  const transport = new StatusTransport();
  const { recorder, browser, origin } = await start({ sequencer: { transport }, testClock: () => clock.nowMs });
  transport.answer = pending;
  const stream = new RawStream(origin, `/intent/${intent}/events`);
  await stream.has('event: status');
  await eventually('the watch has polled', () => transport.callCount >= 2);
  clock.nowMs += unsubmittedTtlMs;
  transport.answer = submitted;
  await browser.send('GET', `/status/${intent}`);
  await stream.has('event: intent_submitted');
  await recorder.first('intent_submitted');
  const types = recorder.events.filter((event) => 'intent' in event).map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['stream_opened', 'code_scanned', 'intent_submitted']));
  expect(types.indexOf('code_scanned')).toBeLessThan(types.indexOf('intent_submitted'));
});

test('with a ledger, a login emits intent_submitted once, with its kind', async () => {
  const browser = new Browser(shop.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'login' });
  const id = intentIdOf(String(body.client_secret));
  await shop.simulator.wallet().login(String(body.client_secret));
  for (let count = 0; count < 2; count += 1) await browser.send('GET', `/status/${id}`);
  const expected = { type: 'intent_submitted', atMs, intent: id, kind: 'login', source: 'status' };
  expect(await ledgerEvents.first('intent_submitted', id)).toEqual(expected);
  expect(ledgerEvents.of('intent_submitted').filter((event) => event.intent === id)).toHaveLength(1);
});

test('no event contains the secret of an intent in any form', async () => {
  const { id, secret, pay } = await begin();
  await pay();
  await ledgerEvents.first('payment_settled', id);
  const expected = JSON.stringify(ledgerEvents.events);
  expect(expected).toContain(id);
  expect(expected).not.toContain(secret);
  expect(expected).not.toContain(Buffer.from(parseClientSecret(secret)).toString('hex'));
});
