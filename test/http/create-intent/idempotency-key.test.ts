import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';
import { expressVersions } from '../../support/sites/site.js';

/** A payment hook whose price rises with each call. */
function risingPrice() {
  let calls = 0;
  const payment = () => {
    calls += 1;
    const exact = { exchangeRate: 0.1, quarks: BigInt(calls) * 1_000_000n };
    return { amount: calls, currency: 'usd', exact, metadata: { calls } };
  };
  return { payment, calls: () => calls };
}

const order = { mode: 'payment', order: { article: 'tea', count: 2 } };
const create = (browser: Browser, key: string, body: object = order) =>
  browser.send('POST', '/intent', body, { 'Idempotency-Key': key });

let keys = 0;
const newKey = (): string => {
  keys += 1;
  return `key-${keys}`;
};

const createdAt = ({ tap }: LedgerSite): number => tap.different('createIntent').size;
/** All calls except the polls of the ledger, which a slow test meets. */
const callsAt = ({ tap }: LedgerSite): number => tap.calls.filter(({ method }) => method !== 'getStatus').length;

describe.each(kinds)('a repeated Idempotency-Key, with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const price = risingPrice();
  beforeAll(async () => {
    site = await startLedgerSite({ ledger: { url: await newDatabaseUrl(kind) }, payment: price.payment });
  });

  test('with the same request gets the same answer, without another call of the payment hook or the sequencer', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const first = await create(browser, key);
    const before = [price.calls(), callsAt(site)];
    const second = await create(browser, `"${key}"`, { order: { count: 2, article: 'tea' }, mode: 'payment' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(Object.keys(second.body)).toEqual(['client_secret']);
    expect([price.calls(), callsAt(site)]).toEqual(before);
  });

  test('gets the same answer after the payment', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const { body } = await create(browser, key);
    const secret = String(body.client_secret);
    await site.simulator.wallet().pay(secret);
    await untilState(site, intentIdOf(secret), 'settled');
    expect(await create(browser, key)).toMatchObject({ status: 201, body });
  });

  test.each([
    ['another order', { mode: 'payment', order: { article: 'tea', count: 3 } }],
    ['a list of orders', { mode: 'payment', order: [{ article: 'tea', count: 2 }] }],
    ['no order', { mode: 'payment' }],
    ['another mode', { mode: 'login', order: order.order }],
  ])('with %s answers 422 and sends nothing', async (_name, body) => {
    const browser = new Browser(site.origin);
    const key = newKey();
    await create(browser, key);
    const sent = callsAt(site);
    const reused = await create(browser, key, body);
    expect([reused.status, reused.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect(JSON.stringify(reused.body)).not.toContain('client_secret');
    expect(callsAt(site)).toBe(sent);
    expect((await create(browser, key)).status).toBe(201);
  });

  test('from another browser creates another intent', async () => {
    const key = newKey();
    const [one, other] = [new Browser(site.origin), new Browser(site.origin)];
    const answers = [await create(one, key), await create(other, key), await create(one, key)];
    const [first, second, third] = answers.map(({ body }) => body.client_secret);
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  test('for a login returns a secret that can be completed', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const first = await create(browser, key, { mode: 'login' });
    const second = await create(browser, key, { mode: 'login' });
    expect(second.body).toEqual(first.body);
    const secret = String(first.body.client_secret);
    await site.simulator.wallet('Ada').login(secret);
    const completed = await browser.send('POST', '/session', { id: intentIdOf(secret) });
    expect(completed.status).toBe(200);
  });

  test('in twenty concurrent requests creates one intent and one row', async () => {
    const browser = new Browser(site.origin);
    await create(browser, newKey());
    const before = createdAt(site);
    const rows = (await site.router.intents.list({ limit: 1_000 })).intents.length;
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(browser, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.client_secret)).size).toBe(1);
    expect(createdAt(site)).toBe(before + 1);
    const { intents } = await site.router.intents.list({ limit: 1_000 });
    expect(intents.length).toBe(rows + 1);
    expect(intents[0]).toMatchObject({ id: intentIdOf(String(answers[0]?.body.client_secret)), state: 'created' });
  });
});

test.each(Object.entries(expressVersions))(
  'POST /intent answers 400 for an invalid Idempotency-Key on %s',
  async (_name, factory) => {
    const site = await startLedgerSite({ ledger: { url: await newDatabaseUrl('postgres') }, factory });
    const browser = new Browser(site.origin);
    for (const key of ['', 'a b', 'ä', '"unclosed', '~'.repeat(256)]) {
      const { status, body, headers } = await browser.send('POST', '/intent', {}, { 'Idempotency-Key': key });
      expect([status, body.code]).toEqual([400, 'invalid_idempotency_key']);
      expect(headers.get('content-type')).toBe('application/problem+json');
    }
    expect(site.tap.calls).toEqual([]);
    expect((await browser.send('POST', '/intent', {}, { 'Idempotency-Key': '"fine"' })).status).toBe(201);
  },
);

/** The failures of the sequencer and the ledger during a request. */
const failures: [name: string, fail: (site: LedgerSite, browser: Browser) => void, hookCalls: number][] = [
  [
    'the ledger fails before the lookup',
    ({ faults }, { cookies }) => {
      cookies.set('intent', 'a'.repeat(43));
      faults.failOnce('findByIdempotencyKey', 'before');
    },
    1,
  ],
  ['the ledger fails before the insert', ({ faults }) => faults.failOnce('reserve', 'before'), 2],
  ['the response to the insert is lost', ({ faults }) => faults.failOnce('reserve', 'after'), 1],
  ['the sequencer fails', ({ simulator }) => void simulator.injectFault(refusal), 1],
  ['the response of the sequencer is lost', ({ simulator }) => void simulator.injectFault(lostAnswer), 1],
  ['the ledger fails before the confirmation', ({ faults }) => faults.failOnce('confirm', 'before'), 1],
  ['the response to the confirmation is lost', ({ faults }) => faults.failOnce('confirm', 'after'), 1],
];
const refusal = { kind: 'status', operations: ['createIntent'] } as const;
const lostAnswer = { kind: 'cut', operations: ['createIntent'], when: 'after' } as const;

describe.each([
  ['postgres' as const, failures],
  // A folder takes long to open. One failure shows that a restart finds it unchanged.
  ['embedded' as const, failures.slice(2, 3)],
])('a retry after a restart, with a ledger in %s, creates one intent when', (kind, some) => {
  test.each(some)('%s', async (_name, fail, hookCalls) => {
    const databaseUrl = await newDatabaseUrl(kind);
    const price = risingPrice();
    const first = await startLedgerSite({ ledger: { url: databaseUrl }, payment: price.payment });
    const browser = new Browser(first.origin);
    const key = newKey();

    fail(first, browser);
    const failed = await create(browser, key);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(failed.body).not.toHaveProperty('client_secret');
    expect(browser.cookies.get('intent')).toBeDefined();
    await first.router.close();
    first.simulator.clearFaults();

    const second = await startLedgerSite({
      ledger: { url: databaseUrl },
      payment: price.payment,
      runningSimulator: first.simulator,
    });
    const returning = new Browser(second.origin, browser.cookies);
    const repeated = await create(returning, key);
    expect(repeated.status).toBe(201);
    const secret = String(repeated.body.client_secret);
    expect((await create(returning, key)).body).toEqual(repeated.body);

    const sent = [...first.tap.different('createIntent'), ...second.tap.different('createIntent')];
    expect(new Set(sent).size).toBe(1);
    expect(price.calls()).toBe(hookCalls);
    const { intents } = await second.router.intents.list();
    expect(intents).toHaveLength(1);
    expect(intents[0]).toMatchObject({ id: intentIdOf(secret), state: 'created', amount: `${hookCalls}.00` });
    // The wallet sees the recorded price, although the hook now returns another.
    expect(await second.simulator.wallet().scan(secret)).toMatchObject({ amount: `${hookCalls}.00` });
    await second.router.close();
  });
});
