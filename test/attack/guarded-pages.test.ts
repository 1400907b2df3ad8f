import type { RequestHandler } from 'express';
import { requirePayment } from '../../src/http/paywall/require-payment.js';
import { requireLogin } from '../../src/http/session/require-login.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { orderIn } from '../support/sites/site.js';

const limit = 4;
const page: RequestHandler = (_req, res) => void res.send('The guarded page.');
const ownCaching: RequestHandler = (_req, res) =>
  void res.set('Cache-Control', 'private, max-age=60').send('The same.');

let site: LedgerSite;
beforeAll(async () => {
  site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    payment: (req) => ({ amount: '4.50', currency: 'usd', resource: orderIn(req) }),
    onPaid: () => undefined,
    limits: { requests: { status: limit } },
    // No poll by the ledger during the test.
    timing: { watchFirstMs: 3_600_000 },
    before: (app) => app.set('trust proxy', 1),
    after: (app) => {
      const paid = requirePayment((req) => ({ resource: `article:${req.params.name}` }));
      app.get('/article/:name', paid, page);
      app.get('/cached/:name', paid, ownCaching);
      app.get('/account', requireLogin(), page);
      app.get('/account/cached', requireLogin(), ownCaching);
    },
  });
});

/** Requests of one browser from one address. */
function visitor(address: string): { browser: Browser; get: (path: string) => ReturnType<Browser['send']> } {
  const browser = new Browser(site.origin);
  return { browser, get: (path) => browser.send('GET', path, undefined, { 'X-Forwarded-For': address }) };
}

const createPayment = (browser: Browser, order: string) => browser.send('POST', '/intent', { mode: 'payment', order });

const statusCalls = (): number => site.tap.calls.filter(({ method }) => method === 'getStatus').length;

describe('unpaid page views', () => {
  test('count against the status limit before a call to the service', async () => {
    const { browser, get } = visitor('192.0.2.1');
    await createPayment(browser, 'article:tea');
    const before = statusCalls();
    const statuses: number[] = [];
    for (let n = 0; n < limit + 3; n += 1) statuses.push((await get('/article/tea')).status);
    expect(statuses).toEqual([...Array(limit).fill(402), 429, 429, 429]);
    expect(statusCalls() - before).toBeLessThanOrEqual(limit);
    const rejected = await get('/article/tea');
    expect(rejected.body.code).toBe('rate_limited');
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      (await get(`/status/${intentIdOf((await createPayment(browser, 'article:tea')).body.client_secret as string)}`))
        .status,
    ).toBe(429);
  });

  test('poll only the newest open payment', async () => {
    const { browser, get } = visitor('192.0.2.2');
    for (let n = 0; n < 5; n += 1) await createPayment(browser, 'article:milk');
    const before = statusCalls();
    expect((await get('/article/milk')).status).toBe(402);
    expect(statusCalls() - before).toBe(1);
  });

  test('without a created payment cause no call and no count', async () => {
    const { get } = visitor('192.0.2.3');
    const before = statusCalls();
    for (let n = 0; n < limit + 3; n += 1) expect((await get('/article/none')).status).toBe(402);
    expect(statusCalls() - before).toBe(0);
  });
});

describe('paths that cannot be a resource', () => {
  test.each([
    ['a NUL', 'a%00'],
    ['200 letters', 'a'.repeat(200)],
    ['99 letters of four bytes', '%F0%9F%98%80'.repeat(99)],
  ])('are rejected with 400: %s', async (_name, name) => {
    const { get } = visitor('192.0.2.4');
    const { status, body } = await get(`/article/${name}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(site.log.lines).toEqual([]);
  });
});

describe('the caching of guarded pages', () => {
  test('is disabled behind requirePayment, unless the app sets Cache-Control', async () => {
    const { browser, get } = visitor('192.0.2.5');
    const { body } = await createPayment(browser, 'article:bread');
    await site.simulator.wallet().pay(String(body.client_secret));
    void site.router.intents.recheck(intentIdOf(String(body.client_secret)));
    await untilState(site, intentIdOf(String(body.client_secret)), 'settled');
    const [bread, cached] = [await get('/article/bread'), await get('/cached/bread')];
    expect([bread.status, bread.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect([cached.status, cached.headers.get('cache-control')]).toEqual([200, 'private, max-age=60']);
    expect((await get('/article/cake')).headers.get('cache-control')).toBe('no-store');
  });

  test('is disabled behind requireLogin, unless the app sets Cache-Control', async () => {
    const { browser, get } = visitor('192.0.2.6');
    expect((await get('/account')).headers.get('cache-control')).toBe('no-store');
    const { body } = await browser.send('POST', '/intent', { mode: 'login' });
    await site.simulator.wallet().login(String(body.client_secret));
    await browser.send('POST', '/session', { id: intentIdOf(String(body.client_secret)) });
    const [account, cached] = [await get('/account'), await get('/account/cached')];
    expect([account.status, account.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect([cached.status, cached.headers.get('cache-control')]).toEqual([200, 'private, max-age=60']);
  });
});
