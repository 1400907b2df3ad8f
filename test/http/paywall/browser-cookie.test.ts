import type { Request, RequestHandler } from 'express';
import { refuse } from '../../../src/http/hook-errors.js';
import { requirePayment } from '../../../src/http/paywall/require-payment.js';
import { Browser } from '../../support/browser/browser.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';

// The cookie that identifies the payer, on a page behind requirePayment.

let site: LedgerSite;
/** The `payment` hook of an order with `isSlow` waits for it. */
let slowHook: Promise<void>;

beforeAll(async () => {
  const page: RequestHandler = (_req, res) => void res.send('Paid.');
  site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    payment: async ({ body: { order } }: Request) => {
      if (order.isSlow) await slowHook;
      return { amount: '0.50', currency: 'usd', resource: order.path };
    },
    after: (app) => {
      const required = ({ path }: Request) => ({ resource: path });
      app.all('/page/:name', requirePayment(required, { payUrl: '/buy' }), page);
      app.get(
        '/refused',
        requirePayment(() => refuse('There is no such page.', 404)),
        page,
      );
    },
  });
});

const html = { accept: 'text/html' };
const json = { accept: 'application/json' };
const token = '[\\w-]{43}';

describe.each([
  ['the redirect of a page view', html, 303],
  ['the 402 of an API client', json, 402],
])('%s', (_name, accept, status) => {
  test('sets a cookie that no cache stores and that ends with the browser', async () => {
    const { status: sent, headers } = await new Browser(site.origin).send('GET', '/page/tea', undefined, accept);
    expect([sent, headers.get('cache-control')]).toEqual([status, 'no-store']);
    const cookie = new RegExp(`^intent=${token}; Path=/; HttpOnly; SameSite=Lax$`);
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(cookie)]);
  });

  test('keeps a valid cookie, and replaces an invalid one', async () => {
    const browser = new Browser(site.origin, new Map([['intent', 'made-up']]));
    const send = () => browser.send('GET', '/page/tea', undefined, accept);
    expect((await send()).headers.getSetCookie()).toEqual([expect.stringMatching(`^intent=${token};`)]);
    expect((await send()).headers.getSetCookie()).toEqual([]);
  });

  test('lets a browser open the page that it paid for, although two tabs sent their first payments at the same time', async () => {
    const browser = new Browser(site.origin);
    const path = `/page/${status}`;
    const create = (isSlow: boolean) => browser.send('POST', '/intent', { mode: 'payment', order: { path, isSlow } });
    let endHook: () => void = () => undefined;
    slowHook = new Promise((resolve) => {
      endHook = resolve;
    });
    await browser.send('GET', path, undefined, accept);
    const slow = create(true);
    const secret = String((await create(false)).body.client_secret);
    endHook();
    expect((await slow).status).toBe(201);
    await site.simulator.wallet().pay(secret);
    await browser.send('GET', `/status/${intentIdOf(secret)}`);
    await untilState(site, intentIdOf(secret), 'settled');
    expect((await browser.send('GET', path, undefined, accept)).status).toBe(200);
  });
});

test.each([
  ['a link of another site', 'GET', 'cross-site', 'document', 1],
  ['a script of this site', 'GET', 'same-origin', 'empty', 1],
  ['an address that the visitor entered', 'HEAD', 'none', 'document', 1],
  ['an image of another site', 'GET', 'cross-site', 'image', 0],
  ['a frame of another site', 'GET', 'cross-site', 'iframe', 0],
  ['a form of another site', 'POST', 'cross-site', 'document', 0],
])(
  'a request of %s sets the cookie only if the browser would have sent it',
  async (_name, method, fetchSite, dest, cookies) => {
    const { headers } = await fetch(`${site.origin}/page/tea`, {
      method,
      redirect: 'manual',
      headers: { 'sec-fetch-site': fetchSite, 'sec-fetch-dest': dest },
    });
    expect(headers.getSetCookie()).toHaveLength(cookies);
  },
);

test('a refused page sets no cookie', async () => {
  const { status, headers } = await new Browser(site.origin).send('GET', '/refused');
  expect([status, headers.getSetCookie()]).toEqual([404, []]);
});
