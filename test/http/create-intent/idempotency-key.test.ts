import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';
import { expressVersions } from '../../support/sites/site.js';

/** A price that is another one each time it is asked for. */
function risingPrice() {
  let asked = 0;
  const payment = () => {
    asked += 1;
    return { amount: asked, currency: 'usd', metadata: { asked } };
  };
  return { payment, asked: () => asked };
}

const order = { mode: 'payment', order: { article: 'tea', count: 2 } };
const begin = (browser: Browser, key: string, body: object = order) =>
  browser.send('POST', '/intent', body, { 'Idempotency-Key': key });

let keys = 0;
const newKey = (): string => {
  keys += 1;
  return `key-${keys}`;
};

const createdAt = ({ tap }: LedgerSite): number => tap.different('createIntent').size;

describe.each(kinds)('the same Idempotency-Key again, with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const price = risingPrice();
  beforeAll(async () => {
    site = await startLedgerSite({ databaseUrl: await newDatabaseUrl(kind), payment: price.payment });
  });

  test('and the same request: the same answer, without another question to anybody', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const first = await begin(browser, key);
    const before = [price.asked(), site.tap.calls.length];
    const second = await begin(browser, `"${key}"`, { order: { count: 2, article: 'tea' }, mode: 'payment' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(Object.keys(second.body)).toEqual(['client_secret']);
    expect([price.asked(), site.tap.calls.length]).toEqual(before);
  });

  test('also once the intent was paid', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const { body } = await begin(browser, key);
    const secret = String(body.client_secret);
    await site.sequencer.wallet().pay(secret);
    await untilState(site, intentIdOf(secret), 'settled');
    expect(await begin(browser, key)).toMatchObject({ status: 201, body });
  });

  test.each([
    ['another order', { mode: 'payment', order: { article: 'tea', count: 3 } }],
    ['an order more', { mode: 'payment', order: [{ article: 'tea', count: 2 }] }],
    ['no order', { mode: 'payment' }],
    ['another mode', { mode: 'login', order: order.order }],
  ])('but %s: 422, and nothing is sent', async (_name, body) => {
    const browser = new Browser(site.origin);
    const key = newKey();
    await begin(browser, key);
    const calls = site.tap.calls.length;
    const reused = await begin(browser, key, body);
    expect([reused.status, reused.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect(JSON.stringify(reused.body)).not.toContain('client_secret');
    expect(site.tap.calls.length).toBe(calls);
    expect((await begin(browser, key)).status).toBe(201);
  });

  test('but another browser: an intent of its own', async () => {
    const key = newKey();
    const [one, other] = [new Browser(site.origin), new Browser(site.origin)];
    const answers = [await begin(one, key), await begin(other, key), await begin(one, key)];
    const [first, second, third] = answers.map(({ body }) => body.client_secret);
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  test('for a login, which can be completed then', async () => {
    const browser = new Browser(site.origin);
    const key = newKey();
    const first = await begin(browser, key, { mode: 'login' });
    const second = await begin(browser, key, { mode: 'login' });
    expect(second.body).toEqual(first.body);
    const secret = String(first.body.client_secret);
    await site.sequencer.wallet('Ada').login(secret);
    const completed = await browser.send('POST', '/session', { id: intentIdOf(secret) });
    expect(completed.status).toBe(200);
  });

  test('twenty times at once: one intent, one row, one answer', async () => {
    const browser = new Browser(site.origin);
    await begin(browser, newKey());
    const before = createdAt(site);
    const rows = (await site.router.intents.list({ limit: 1_000 })).intents.length;
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => begin(browser, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.client_secret)).size).toBe(1);
    expect(createdAt(site)).toBe(before + 1);
    const { intents } = await site.router.intents.list({ limit: 1_000 });
    expect(intents.length).toBe(rows + 1);
    expect(intents[0]).toMatchObject({ id: intentIdOf(String(answers[0]?.body.client_secret)), state: 'open' });
  });

  test('a new key is a new intent, as is none', async () => {
    const browser = new Browser(site.origin);
    const answers = [
      await begin(browser, newKey()),
      await begin(browser, newKey()),
      await browser.send('POST', '/intent', order),
      await browser.send('POST', '/intent', order),
    ];
    expect(new Set(answers.map(({ body }) => body.client_secret)).size).toBe(4);
  });

  test('neither the secret nor what opens it is in the ledger', async () => {
    const browser = new Browser(site.origin);
    const { body } = await begin(browser, newKey());
    const secret = String(body.client_secret);
    const [given] = site.faults.calls.filter(({ method }) => method === 'reserve').slice(-1);
    const written = JSON.stringify(given, (_name, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    expect(written).toContain('sealedSecret');
    expect(written).not.toContain(secret);
    expect(written).not.toContain(browser.cookies.get('intent'));
  });
});

test('two processes that are asked at once create one intent', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const price = risingPrice();
  const one = await startLedgerSite({ databaseUrl, payment: price.payment });
  const other = await startLedgerSite({ databaseUrl, payment: price.payment, sequencer: one.sequencer });
  const browser = new Browser(one.origin);
  await begin(browser, newKey());
  const browsers = [browser, new Browser(other.origin, browser.cookies)];
  for (let round = 1; round <= 5; round += 1) {
    const key = newKey();
    const answers = await Promise.all([0, 1, 0, 1, 0, 1].map((at) => begin(browsers[at] ?? browser, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.client_secret)).size).toBe(1);
    const sent = new Set([...one.tap.different('createIntent'), ...other.tap.different('createIntent')]);
    expect(sent.size).toBe(round + 1);
    expect((await other.router.intents.list()).intents).toHaveLength(round + 1);
  }
});

test.each(Object.entries(expressVersions))(
  'a key of the wrong form is refused over HTTP on %s',
  async (_name, factory) => {
    const site = await startLedgerSite({ databaseUrl: await newDatabaseUrl('postgres'), factory });
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

/** Where a request can be cut off: at the sequencer, in a hook, or on one of its ways to the ledger. */
const failures: [name: string, fail: (site: LedgerSite) => void, pricesAsked: number][] = [
  ['the ledger is not there to begin with', ({ faults }) => faults.failOnce('repeated', 'before'), 1],
  ['the ledger is lost before it is written down', ({ faults }) => faults.failOnce('reserve', 'before'), 2],
  ['that it was written down is lost', ({ faults }) => faults.failOnce('reserve', 'after'), 1],
  ['the sequencer is not reached', ({ sequencer }) => void sequencer.injectFault(refusal), 1],
  ['the answer of the sequencer is lost', ({ sequencer }) => void sequencer.injectFault(lostAnswer), 1],
  ['the ledger is lost before it is confirmed', ({ faults }) => faults.failOnce('confirm', 'before'), 1],
  ['that it was confirmed is lost', ({ faults }) => faults.failOnce('confirm', 'after'), 1],
];
const refusal = { kind: 'status', operations: ['createIntent'] } as const;
const lostAnswer = { kind: 'cut', operations: ['createIntent'], when: 'after' } as const;

describe.each([
  ['postgres' as const, failures],
  // A folder takes its time to open, and one failure shows that it is opened again as it was left.
  ['embedded' as const, failures.slice(2, 3)],
])('a request is repeated after a failure and a restart, with a ledger in %s', (kind, some) => {
  test.each(some)('%s', async (_name, fail, pricesAsked) => {
    const databaseUrl = await newDatabaseUrl(kind);
    const price = risingPrice();
    const first = await startLedgerSite({ databaseUrl, payment: price.payment });
    const browser = new Browser(first.origin);
    const key = newKey();

    fail(first);
    const failed = await begin(browser, key);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(failed.body).not.toHaveProperty('client_secret');
    expect(browser.cookies.get('intent')).toBeDefined();
    await first.router.close();
    first.sequencer.clearFaults();

    const second = await startLedgerSite({ databaseUrl, payment: price.payment, sequencer: first.sequencer });
    const later = new Browser(second.origin, browser.cookies);
    const repeated = await begin(later, key);
    expect(repeated.status).toBe(201);
    const secret = String(repeated.body.client_secret);
    expect((await begin(later, key)).body).toEqual(repeated.body);

    const sent = [...first.tap.different('createIntent'), ...second.tap.different('createIntent')];
    expect(new Set(sent).size).toBe(1);
    expect(price.asked()).toBe(pricesAsked);
    const { intents } = await second.router.intents.list();
    expect(intents).toHaveLength(1);
    expect(intents[0]).toMatchObject({ id: intentIdOf(secret), state: 'open', amount: `${pricesAsked}.00` });
    // What the wallet is asked for is what is written down, though the price is another one by now.
    expect(await second.sequencer.wallet().scan(secret)).toMatchObject({ amount: `${pricesAsked}.00` });
    await second.router.close();
  });
});
