import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite } from '../../support/sites/ledger-site.js';
import { destination, expressVersions, startSiteWithSimulator } from '../../support/sites/site.js';

const pay = (browser: Browser, order: unknown = 'tea') => browser.send('POST', '/intent', { mode: 'payment', order });
const idOf = ({ body }: { body: Record<string, unknown> }): string => intentIdOf(String(body.client_secret));

describe.each(kinds)('an intent, with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const created: unknown[] = [];
  const paid: unknown[] = [];
  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl(kind) },
      payment: () => ({
        amount: 4.5,
        currency: 'eur',
        exact: { exchangeRate: 0.25, quarks: 1_800_000n },
        description: 'Tea, 100 g',
        resource: 'article:tea',
        metadata: { order: 42 },
      }),
      onCreated: (intent) => void created.push(intent),
      onPaid: (payment) => void paid.push(payment),
    });
  });

  test('is recorded with its terms before the answer', async () => {
    const before = Date.now();
    const answer = await pay(new Browser(site.origin));
    expect(answer.status).toBe(201);
    const id = idOf(answer);
    const exact = { exchangeRate: 0.25, quarks: '1800000' };
    const money = { amount: '4.50', currency: 'eur', exact, destination };
    const terms = { ...money, description: 'Tea, 100 g', login: false, resource: 'article:tea' };
    const recorded = await site.router.intents.find(id);
    expect(recorded).toMatchObject({ id, kind: 'payment', state: 'created', ...terms, metadata: { order: 42 } });
    expect(recorded?.createdAt.getTime()).toBeGreaterThan(before - 5_000);
    expect(created.at(-1)).toEqual({ id, kind: 'payment', ...terms, metadata: { order: 42 } });
    expect(JSON.stringify(recorded)).not.toContain(answer.body.client_secret);
  });

  test('is recorded for a login as well', async () => {
    const answer = await new Browser(site.origin).send('POST', '/intent', { mode: 'login' });
    const recorded = await site.router.intents.find(idOf(answer));
    expect(recorded).toMatchObject({ kind: 'login', state: 'created' });
    expect(created.at(-1)).toEqual({ id: idOf(answer), kind: 'login' });
  });

  test('whose record fails is not returned', async () => {
    const rows = (await site.router.intents.list()).intents.length;
    for (const [mode, moment] of [
      ['payment', 'before'],
      ['login', 'after'],
    ] as const) {
      site.faults.failOnce('recordIntent', moment);
      const { status, body } = await new Browser(site.origin).send('POST', '/intent', { mode });
      expect([status, body.code]).toEqual([503, 'ledger_unavailable']);
      expect(Object.keys(body).sort()).toEqual(['code', 'instance', 'status', 'title', 'type']);
    }
    expect(site.log.text).toContain('ledger_unavailable');
    // Only the response of the database to the second was lost.
    expect((await site.router.intents.list()).intents).toHaveLength(rows + 1);
    expect((await pay(new Browser(site.origin))).status).toBe(201);
  });

  test('is recorded after onCreated, which can still refuse it', async () => {
    const { calls } = site.faults;
    calls.length = 0;
    created.length = 0;
    await pay(new Browser(site.origin));
    expect([created.length, calls.map(({ method }) => method)]).toEqual([1, ['recordIntent']]);
  });

  test('with a payment extends the browser cookie to 400 days', async () => {
    const browser = new Browser(site.origin);
    const login = await browser.send('POST', '/intent', { mode: 'login' });
    expect(login.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^intent=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const token = browser.cookies.get('intent');
    const lasting = expect.stringMatching(`^intent=${token}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax$`);
    expect((await pay(browser)).headers.getSetCookie()).toEqual([lasting]);
    expect((await browser.send('POST', '/intent', { mode: 'login' })).headers.getSetCookie()).toEqual([]);
    // The first answer to a browser also has one cookie.
    const first = (await pay(new Browser(site.origin))).headers.getSetCookie();
    expect(first).toEqual([expect.stringMatching(/^intent=[\w-]{43}; Max-Age=34560000; /)]);
  });
});

describe('resource, description and metadata of the payment hook', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  test.each([
    ['a date', { metadata: { at: new Date(0) } }, 'metadata.at is an instance of Date'],
    ['a bigint', { metadata: { ids: [1n] } }, 'metadata.ids[0] is a bigint'],
    ['a function', { metadata: { deep: { f: () => 1 } } }, 'metadata.deep.f is a function'],
    ['NaN', { metadata: { n: Number.NaN } }, 'metadata.n is NaN'],
    ['an undefined member', { metadata: { order: undefined } }, 'metadata.order is undefined. Set a value'],
    ['a text with a NUL', { metadata: { t: 'a\0b' } }, 'metadata.t is a string that contains a NUL character'],
    [
      'a lone surrogate',
      { metadata: { t: '\ud83d' } },
      'metadata.t is a string that contains a NUL character or a lone',
    ],
    ['a cycle', { metadata: cycle }, 'is circular or nested too deeply'],
    ['a list as metadata', { metadata: [1] }, 'must be an object'],
    ['more than 16 KiB', { metadata: { text: 'ä'.repeat(8_190) } }, 'is 16391 bytes as JSON. The limit is 16384'],
    ['a number as the resource', { resource: 7 }, '1 to 200 characters'],
    ['a number as the description', { description: 7 }, 'one line of 1 to 100 characters'],
    ['a blank description', { description: '  ' }, 'one line of 1 to 100 characters, not only spaces'],
    ['a long description', { description: 'x'.repeat(101) }, 'one line of 1 to 100 characters'],
    ['a description of two lines', { description: 'a\nb' }, 'one line of 1 to 100 characters'],
    ['a description that changes the direction of text', { description: '\u202e9.99' }, 'one line of 1 to 100'],
  ])('with %s, are rejected before a call to the sequencer, with the path in the log', async (_name, more, why) => {
    const { origin, log } = await startSiteWithSimulator({
      payment: () => ({ amount: 1, currency: 'usd', ...(more as object) }),
    });
    const { status, body } = await pay(new Browser(origin));
    expect([status, body.code]).toEqual([500, 'invalid_terms']);
    expect(body).not.toHaveProperty('detail');
    expect(log.text).toContain(why);
    expect(log.text).not.toContain('ää');
  });

  test('are passed to onCreated as JSON, with and without a ledger', async () => {
    const created: unknown[] = [];
    const metadata = {
      text: 'ä😀',
      list: [1, null, { deep: true }],
      bare: Object.create(null),
      size: 'x'.repeat(16_000),
    };
    const description = '\u{1f375}'.repeat(100);
    const { origin } = await startSiteWithSimulator({
      payment: () => ({ amount: 2, currency: 'usd', resource: 'r'.repeat(200), description, metadata }),
      onCreated: (intent) => void created.push(intent),
    });
    expect((await pay(new Browser(origin))).status).toBe(201);
    expect(created).toEqual([
      expect.objectContaining({
        amount: '2.00',
        resource: 'r'.repeat(200),
        description,
        metadata: JSON.parse(JSON.stringify(metadata)),
      }),
    ]);
  });
});

test.each(Object.entries(expressVersions))(
  'without a ledger the Idempotency-Key is ignored on %s',
  async (_name, factory) => {
    const { origin } = await startSiteWithSimulator({ factory });
    const browser = new Browser(origin);
    const headers = { 'Idempotency-Key': 'the same' };
    const answers = [
      await browser.send('POST', '/intent', { order: 1 }, headers),
      await browser.send('POST', '/intent', { order: 2 }, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.body).not.toEqual(answers[1]?.body);
  },
);
