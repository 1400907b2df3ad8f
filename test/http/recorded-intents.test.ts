import { Browser } from '../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { destination, expressVersions, startSiteWithSequencer } from '../support/sites/site.js';

const pay = (browser: Browser, order: unknown = 'tea') => browser.send('POST', '/intent', { mode: 'payment', order });
const idOf = ({ body }: { body: Record<string, unknown> }): string => intentIdOf(String(body.client_secret));

describe.each(kinds)('what leaves with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const told: unknown[] = [];
  const paid: unknown[] = [];
  beforeAll(async () => {
    site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl(kind),
      payment: () => ({
        amount: 4.5,
        currency: 'eur',
        resource: 'article:tea',
        metadata: { order: 42, no: undefined },
      }),
      onCreated: (intent) => void told.push(intent),
      onPaid: (payment) => void paid.push(payment),
    });
  });

  test('is written down with its terms, for the browser that gets it', async () => {
    const before = Date.now();
    const answer = await pay(new Browser(site.origin));
    expect(answer.status).toBe(201);
    const id = idOf(answer);
    const terms = { amount: '4.50', currency: 'eur', destination, login: false, resource: 'article:tea' };
    const kept = await site.router.intents.find(id);
    expect(kept).toMatchObject({ id, kind: 'payment', state: 'open', ...terms, metadata: { order: 42 } });
    expect(kept?.createdAt.getTime()).toBeGreaterThan(before - 5_000);
    expect(told.at(-1)).toEqual({ id, kind: 'payment', ...terms, metadata: { order: 42 } });
    expect(JSON.stringify(kept)).not.toContain(answer.body.client_secret);
  });

  test('is settled with these terms once it is paid', async () => {
    const { body } = await pay(new Browser(site.origin));
    const id = intentIdOf(String(body.client_secret));
    await site.sequencer.wallet().pay(String(body.client_secret));
    await untilState(site, id, 'settled');
    expect(paid.at(-1)).toMatchObject({ id, amount: '4.50', resource: 'article:tea', metadata: { order: 42 } });
    expect(await site.router.intents.history(id)).toMatchObject([
      { from: 'open', to: 'submitted' },
      { from: 'submitted', to: 'settled' },
    ]);
  });

  test('is written down for a login as well', async () => {
    const answer = await new Browser(site.origin).send('POST', '/intent', { mode: 'login' });
    const kept = await site.router.intents.find(idOf(answer));
    expect(kept).toMatchObject({ kind: 'login', state: 'open', amount: undefined, resource: undefined });
    expect(told.at(-1)).toEqual({ id: idOf(answer), kind: 'login' });
  });

  test('stays when it cannot be written down', async () => {
    const rows = (await site.router.intents.list()).intents.length;
    for (const [mode, moment] of [
      ['payment', 'before'],
      ['login', 'after'],
    ] as const) {
      site.faults.failOnce('record', moment);
      const { status, body } = await new Browser(site.origin).send('POST', '/intent', { mode });
      expect([status, body.code]).toEqual([503, 'ledger_unavailable']);
      expect(Object.keys(body).sort()).toEqual(['code', 'instance', 'status', 'title', 'type']);
    }
    expect(site.log.text).toContain('ledger_unavailable');
    // Of the second only the answer of the database was lost.
    expect((await site.router.intents.list()).intents).toHaveLength(rows + 1);
    expect((await pay(new Browser(site.origin))).status).toBe(201);
  });

  test('is written down after the site was told, which can still refuse it', async () => {
    const { calls } = site.faults;
    calls.length = 0;
    told.length = 0;
    await pay(new Browser(site.origin));
    expect([told.length, calls.map(({ method }) => method)]).toEqual([1, ['record']]);
  });

  test('is for a browser that keeps its cookie 400 days, where there is something to come back to', async () => {
    const browser = new Browser(site.origin);
    const login = await browser.send('POST', '/intent', { mode: 'login' });
    expect(login.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^intent=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const token = browser.cookies.get('intent');
    const lasting = expect.stringMatching(`^intent=${token}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax$`);
    expect((await pay(browser)).headers.getSetCookie()).toEqual([lasting]);
    expect((await browser.send('POST', '/intent', { mode: 'login' })).headers.getSetCookie()).toEqual([]);
    // The first answer of all has one cookie, too.
    const first = (await pay(new Browser(site.origin))).headers.getSetCookie();
    expect(first).toEqual([expect.stringMatching(/^intent=[\w-]{43}; Max-Age=34560000; /)]);
  });
});

describe('what the payment hook says of a payment', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  test.each([
    ['a date', { metadata: { at: new Date(0) } }, 'metadata.at is a Date'],
    ['a bigint', { metadata: { ids: [1n] } }, 'metadata.ids[0] is a bigint'],
    ['a function', { metadata: { deep: { f: () => 1 } } }, 'metadata.deep.f is a function'],
    ['not a number', { metadata: { n: Number.NaN } }, 'metadata.n is NaN'],
    ['an infinite number', { metadata: { n: -1 / 0 } }, 'metadata.n is -Infinity'],
    ['a map', { metadata: { m: new Map() } }, 'metadata.m is a Map'],
    ['undefined in a list', { metadata: { list: [undefined] } }, 'metadata.list[0] is undefined'],
    ['a text with a NUL', { metadata: { t: 'a\0b' } }, 'metadata.t is a string with NUL'],
    ['half a character', { metadata: { t: '\ud83d' } }, 'metadata.t is a string with'],
    ['such a key', { metadata: { 'a\0': 1 } }, 'metadata has a key with'],
    ['itself', { metadata: cycle }, 'is circular or nested too deeply'],
    ['a list', { metadata: [1] }, 'must be an object'],
    ['null', { metadata: null }, 'must be an object'],
    ['too much', { metadata: { text: 'ä'.repeat(8_190) } }, 'has 16391 bytes as JSON. The limit is 16384'],
    ['no text for a resource', { resource: 7 }, '1 to 200 characters'],
    ['an empty resource', { resource: '' }, '1 to 200 characters'],
    ['a long resource', { resource: 'x'.repeat(201) }, '1 to 200 characters'],
    ['a resource with a NUL', { resource: 'a\0' }, '1 to 200 characters'],
  ])('%s is refused before anything is sent, and the log says where', async (_name, more, why) => {
    const { origin, log } = await startSiteWithSequencer({
      payment: () => ({ amount: 1, currency: 'usd', ...(more as object) }),
    });
    const { status, body } = await pay(new Browser(origin));
    expect([status, body.code]).toEqual([500, 'invalid_configuration']);
    expect(body).not.toHaveProperty('detail');
    expect(log.text).toContain(why);
    expect(log.text).not.toContain('ää');
  });

  test('is told as it will be kept, also where no ledger keeps it', async () => {
    const told: unknown[] = [];
    const metadata = {
      text: 'ä😀',
      list: [1, null, { deep: true }],
      gone: undefined,
      bare: Object.create(null),
      size: 'x'.repeat(16_000),
    };
    const { origin } = await startSiteWithSequencer({
      payment: () => ({ amount: 2, currency: 'usd', resource: 'r'.repeat(200), metadata }),
      onCreated: (intent) => void told.push(intent),
    });
    expect((await pay(new Browser(origin))).status).toBe(201);
    expect(told).toEqual([
      expect.objectContaining({
        amount: '2.00',
        resource: 'r'.repeat(200),
        metadata: JSON.parse(JSON.stringify(metadata)),
      }),
    ]);
  });
});

test.each(Object.entries(expressVersions))(
  'without a ledger an Idempotency-Key counts for nothing, on %s',
  async (_name, factory) => {
    const { origin } = await startSiteWithSequencer({ factory });
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
