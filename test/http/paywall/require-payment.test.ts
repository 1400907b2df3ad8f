import { get } from 'node:http';
import { jest } from '@jest/globals';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import express from 'express';
import request from 'supertest';
import { ConfigError } from '../../../src/errors.js';
import { refuse } from '../../../src/http/hook-errors.js';
import { findPayment } from '../../../src/http/paywall/find-payment.js';
import type { RequiredPayment } from '../../../src/http/paywall/payment-requirement.js';
import { type RequirePaymentOptions, requirePayment } from '../../../src/http/paywall/require-payment.js';
import type { Ledger, LedgerIntent, ResourcePayment } from '../../../src/ledger/ledger.js';
import { StatusCache } from '../../../src/sequencer/watch/status-cache.js';
import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { move } from '../../support/databases/ledger-rows.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import {
  type LedgerSite,
  type LedgerSiteOptions,
  startLedgerSite,
  untilState,
} from '../../support/sites/ledger-site.js';
import {
  destination,
  expressVersions,
  orderIn,
  type SiteOptions,
  startSiteWithSimulator,
} from '../../support/sites/site.js';

/** The price of an order. */
const payment = (req: Request) => {
  const { article, amount = '0.50', currency = 'usd' } = orderIn<Record<string, string>>(req);
  return { amount, currency, resource: `article:${article}`, metadata: { article } };
};

const show: RequestHandler = (req, res) => void res.json({ paid: req.intent.payment });

/** The error handler of the app: answers with the error that it receives. */
const showError = (
  error: { code?: string; message?: string; status?: number },
  _req: Request,
  res: Response,
  _next: NextFunction,
) => void res.status(error.status ?? 500).json({ code: error.code, message: error.message });

function article(
  required: Partial<RequiredPayment> | ((req: Request) => RequiredPayment),
  options?: RequirePaymentOptions,
) {
  // Both forms of the parameter.
  if (typeof required === 'function' || required.resource !== undefined) {
    return requirePayment(required as RequiredPayment, options);
  }
  return requirePayment((req) => ({ resource: `article:${req.params.name}`, ...required }), options);
}

function routes(after: (app: Parameters<NonNullable<SiteOptions['after']>>[0]) => void): Pick<SiteOptions, 'after'> {
  return {
    after: (app) => {
      after(app);
      app.use(showError);
    },
  };
}

beforeEach(() => {
  // A busy machine may need more than the two seconds that a visitor waits for a payment to settle.
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 2_000 ? 60_000 : ms));
});

let articles = 0;
/** An article without payments. */
const newArticle = (): string => {
  articles += 1;
  return `tea-${articles}`;
};

async function buy({ simulator }: LedgerSite, browser: Browser, order: object) {
  const { body } = await browser.send('POST', '/intent', { mode: 'payment', order });
  const secret = String(body.client_secret);
  return { id: intentIdOf(secret), pay: () => simulator.wallet().pay(secret) };
}

async function bought(site: LedgerSite, browser: Browser, order: object): Promise<string> {
  const { id, pay } = await buy(site, browser, order);
  await pay();
  await browser.send('GET', `/status/${id}`);
  await untilState(site, id, 'settled');
  return id;
}

describe.each(kinds)('requirePayment, with a ledger in %s', (kind) => {
  let site: LedgerSite;
  let onPaid: () => void | Promise<void> = () => undefined;
  beforeAll(async () => {
    site = await startLedgerSite(
      { ledger: { url: await newDatabaseUrl(kind), hookLimits: { maxAttempts: 1 } }, payment, onPaid: () => onPaid() },
      routes((app) => {
        app.get('/any/:name', article({}), show);
        app.get('/usd/:name', article({ amount: 0.5, currency: 'usd', order: { article: 'tea' } }), show);
        app.get('/eur/:name', article({ currency: 'eur' }), show);
      }),
    );
  });
  beforeEach(() => {
    onPaid = () => undefined;
  });

  test('answers 402 with the price and where to pay', async () => {
    const browser = new Browser(site.origin);
    const { status, body, headers } = await browser.send('GET', '/usd/tea');
    expect([status, headers.get('content-type')]).toEqual([402, 'application/problem+json']);
    expect(body).toEqual({
      type: 'urn:express-intents:error:payment_required',
      title: expect.any(String),
      status: 402,
      code: 'payment_required',
      detail: expect.stringMatching(
        /POST `mode` and `order` of `pay` .* with the site's Origin\..* with the cookie that the POST response sets\.$/,
      ),
      instance: expect.any(String),
      pay: { url: '/intent', mode: 'payment', order: { article: 'tea' } },
      resource: 'article:tea',
      amount: '0.50',
      currency: 'usd',
    });
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^intent=/)]);
  });

  test('admits a browser right after it pays as the 402 describes', async () => {
    const browser = new Browser(site.origin);
    const demanded = (await browser.send('GET', '/usd/tea')).body;
    const { url, ...body } = demanded.pay as { url: string };
    const created = await browser.send('POST', url, body);
    const secret = String(created.body.client_secret);
    expect((await browser.send('GET', '/usd/tea')).status).toBe(402);
    await site.simulator.wallet().pay(secret);
    const { status, body: page } = await browser.send('GET', '/usd/tea');
    expect(status).toBe(200);
    expect(page.paid).toMatchObject({
      id: intentIdOf(secret),
      amount: '0.50',
      currency: 'usd',
      resource: 'article:tea',
      metadata: { article: 'tea' },
      submittedAt: expect.any(String),
    });
    expect((await browser.send('GET', '/usd/tea')).status).toBe(200);
  });

  test.each([
    ['a payment of less', '0.49', 'usd', '/usd', 402],
    ['a payment of the amount', '0.50', 'usd', '/usd', 200],
    ['a payment of the amount in another currency', '0.50', 'eur', '/usd', 402],
    ['any amount of the required currency', '0.01', 'eur', '/eur', 200],
  ])('compares amount and currency: %s', async (_name, amount, currency, path, status) => {
    const browser = new Browser(site.origin);
    const name = newArticle();
    await bought(site, browser, { article: name, amount, currency });
    expect((await browser.send('GET', `${path}/${name}`)).status).toBe(status);
  });

  test('uses the largest of several payments in the required currency', async () => {
    const browser = new Browser(site.origin);
    const name = newArticle();
    await bought(site, browser, { article: name, amount: '0.60' });
    const largest = await bought(site, browser, { article: name, amount: '0.70' });
    await bought(site, browser, { article: name, amount: '9.00', currency: 'eur' });
    expect((await browser.send('GET', `/usd/${name}`)).body.paid).toMatchObject({ id: largest });
  });

  test('demands no second payment while the hook of the first is in the dead letters', async () => {
    const browser = new Browser(site.origin);
    const name = newArticle();
    onPaid = () => {
      throw new Error('the printer is on fire');
    };
    const { id, pay } = await buy(site, browser, { article: name });
    await pay();
    await browser.send('GET', `/status/${id}`);
    await untilState(site, id, 'dead');
    const { status, body, headers } = await browser.send('GET', `/any/${name}`);
    expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'payment_pending', '5']);
    expect(body.detail).toMatch(new RegExp(`Do not pay again.* mention payment ${id}\\.$`));
    expect(body).not.toHaveProperty('pay');
    onPaid = () => undefined;
    await site.router.intents.retry(id);
    await untilState(site, id, 'settled');
    expect((await browser.send('GET', `/any/${name}`)).status).toBe(200);
  });

  test('ignores a reversed payment', async () => {
    const browser = new Browser(site.origin);
    const name = newArticle();
    const id = await bought(site, browser, { article: name });
    expect((await browser.send('GET', `/any/${name}`)).status).toBe(200);
    // As the ledger does after two reports of the sequencer.
    await move(site.router.database, id, ['reverse']);
    expect((await browser.send('GET', `/any/${name}`)).status).toBe(402);
  });

  test('waits while the hook of the payment runs', async () => {
    const browser = new Browser(site.origin);
    const name = newArticle();
    let release: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      onPaid = () => {
        resolve();
        return new Promise<void>((settle) => {
          release = settle;
        });
      };
    });
    const { pay } = await buy(site, browser, { article: name });
    await pay();
    const answer = browser.send('GET', `/any/${name}`);
    await running;
    release();
    expect((await answer).status).toBe(200);
  });

  test('answers 503 while the ledger is down', async () => {
    const browser = new Browser(site.origin);
    await buy(site, browser, { article: newArticle() });
    site.faults.failOnce('paymentsFor', 'before');
    const { status, body } = await browser.send('GET', '/any/tea');
    expect([status, body.code]).toEqual([503, 'ledger_unavailable']);
  });

  test('does not query the ledger for a browser without our cookie', async () => {
    site.faults.calls.length = 0;
    await request(site.origin).get('/any/tea').expect(402);
    await request(site.origin).get('/any/tea').set('Cookie', 'intent=made-up').expect(402);
    expect(site.faults.calls).toEqual([]);
  });
});

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('a page view whose payment is not settled yet gets a page that reloads, not the redirect to pay', async () => {
  const site = await startSiteWithLedger({
    ledger: { settleDelayMs: 600_000 },
    onPaid: () => undefined,
    ...routes((app) =>
      app.get('/article/:name', article({ amount: '0.50', currency: 'usd' }, { payUrl: '/buy' }), show),
    ),
  });
  const browser = new Browser(site.origin);
  const name = newArticle();
  const { id, pay } = await buy(site, browser, { article: name });
  await pay();
  const view = await browser.send('GET', `/article/${name}`, undefined, page);
  expect(view.status).toBe(409);
  expect(Object.fromEntries(view.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    refresh: '5',
    'retry-after': '5',
  });
  expect(view.body.text).toMatch(/<p>Your payment is being processed\. Do not pay again\./);
  expect(view.body.text).toContain(`mention payment <code>${id}</code>.`);
  const searches = site.faults.firstOf('paymentsFor').length;
  const { status, body } = await browser.send('GET', `/article/${name}`);
  expect([status, body.code]).toEqual([409, 'payment_pending']);
  // Before the recheck of the payment, and after it. A wait would search several times a second.
  expect(site.faults.firstOf('paymentsFor')).toHaveLength(searches + 2);
});

describe.each(Object.entries(expressVersions))('requirePayment for a page view, on %s', (_name, factory) => {
  const start = (payUrl: RequirePaymentOptions['payUrl']) =>
    startSiteWithLedger({
      factory,
      ...routes((app) => app.get(['/article/:name', '/article'], article({ resource: 'r' }, { payUrl }), show)),
    });

  test.each([
    ['/buy', '/article/tea', '/buy?return=%2Farticle%2Ftea'],
    ['/buy', '/article/tea?page=2&x=ä', '/buy?return=%2Farticle%2Ftea%3Fpage%3D2%26x%3D%25C3%25A4'],
    ['/buy?a=1#qr?x', '/article/tea', '/buy?a=1&return=%2Farticle%2Ftea#qr?x'],
  ])('redirects to %s from %s with the return path', async (payUrl, path, location) => {
    const { origin } = await start(payUrl);
    const response = await request(origin).get(path).set(page).redirects(0).expect(303);
    expect(response.headers.location).toBe(location);
    expect(response.headers['cache-control']).toBe('no-store');
  });

  test('answers 402 without a payUrl, and to requests that are not page views', async () => {
    const bare = await start(undefined);
    await request(bare.origin).get('/article').set(page).expect(402);
    const { origin } = await start('/buy');
    await request(origin).get('/article').set('accept', 'application/json').expect(402);
    await request(origin).get('/article').set('accept', '*/*').expect(402);
    await request(origin).post('/article').set(page).expect(404);
  });

  test('answers 500 when the payUrl function returns an address of another site', async () => {
    for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a b', '', undefined]) {
      const { origin } = await start((() => elsewhere) as never);
      const { body } = await request(origin).get('/article').set(page).redirects(0).expect(500);
      expect(body.code).toBe('invalid_configuration');
    }
  });

  test('never returns to another site', async () => {
    const { origin } = await start('/buy');
    const { hostname, port } = new URL(origin);
    const location = await new Promise((resolve, reject) => {
      const options = { hostname, port, path: 'http://evil.example/article', headers: page };
      get(options, (res) => resolve(res.resume().headers.location)).on('error', reject);
    });
    expect(location).toBe('/buy');
  });
});

describe('the pay member of a 402', () => {
  test('includes the mount path of the router', async () => {
    const { origin } = await startSiteWithLedger({
      mountPath: '/shop',
      ...routes((app) => app.get('/shop/article', article({ resource: 'r', order: [1, { a: null }] }), show)),
    });
    const { body } = await request(origin).get('/shop/article').expect(402);
    expect(body.pay).toEqual({ url: '/shop/intent', mode: 'payment', order: [1, { a: null }] });
    expect(body).not.toHaveProperty('amount');
  });

  test('is missing when the route is disabled', async () => {
    const { origin } = await startSiteWithLedger({
      routes: { intent: false },
      ...routes((app) => app.get('/article', article({ resource: 'r' }), show)),
    });
    const { body } = await request(origin).get('/article').expect(402);
    expect(body).not.toHaveProperty('pay');
    expect(body.detail).toBe('Pay on a page of this site. Then repeat this request.');
  });
});

describe('a mistake of the site in requirePayment', () => {
  test.each<[string, object]>([
    ['no resource', {}],
    ['an unknown member', { resource: 'r', ammount: 1 }],
    ['an amount without a currency', { resource: 'r', amount: 1 }],
  ])('with %s in an object, is an error at startup', (_name, required) => {
    expect(() => requirePayment(required as RequiredPayment)).toThrow(ConfigError);
  });

  const guarded = (required: () => RequiredPayment) =>
    routes((app) => app.get('/article', requirePayment(required), show));

  test.each([
    ['no resource', () => ({}), '1 to 200 characters'],
    ['no result', () => undefined, 'pass { resource }, or a function that returns it.'],
    ['an amount without a currency', () => ({ resource: 'r', amount: 1 }), 'an amount requires a currency'],
    ['an invalid amount', () => ({ resource: 'r', amount: 0.001, currency: 'usd' }), 'at most two decimal places'],
  ])('with %s, passes the error to the app', async (_name, required, why) => {
    const { origin } = await startSiteWithLedger(guarded(required as never));
    const { body } = await request(origin).get('/article').expect(500);
    expect(body).toEqual({ code: 'invalid_configuration', message: expect.stringContaining(why) });
  });

  test('without a ledger passes the error with its fix to the app', async () => {
    const { origin } = await startSiteWithSimulator(guarded(() => ({ resource: 'r' })));
    const { body } = await request(origin).get('/article').expect(500);
    expect(body).toEqual({ code: 'invalid_configuration', message: expect.stringContaining('INTENT_DATABASE_URL=') });
  });

  test('without a router in front of the route is router_missing', async () => {
    const app = express();
    app.get(
      '/article',
      requirePayment(() => ({ resource: 'r' })),
      show,
    );
    app.use(showError);
    expect((await request(app).get('/article').expect(500)).body.code).toBe('router_missing');
  });

  test('refuse() in the function answers a problem, as in every hook', async () => {
    const { origin } = await startSiteWithLedger(guarded(() => refuse('No such article.', 404)));
    const { body, headers } = await request(origin).get('/article').expect(404);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toMatchObject({ status: 404, code: 'request_refused', detail: 'No such article.' });
  });

  test.each(['buy', '//evil.example', '/\\evil', 'https://evil.example', '', 7])(
    'payUrl %j is rejected at startup',
    (payUrl) => {
      expect(() => requirePayment(() => ({ resource: 'r' }), { payUrl: payUrl as never })).toThrow(
        expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining('payUrl') }),
      );
    },
  );
});

describe('findPayment', () => {
  // The time of `dueAt` does not matter: the clock of the database may be ahead.
  const intent = {
    ...{ amount: '1.00', currency: 'usd', destination, deadLetterHook: 'onPaid', submittedAt: new Date(0) },
    ...{ dueAt: new Date(Date.now() + 3_600_000), dueInMs: -1 },
  };
  const hanging = () => new Promise<never>(() => {});

  /** Runs findPayment in a ledger with one payment, which has these states one after the other. */
  async function search(
    states: LedgerIntent['state'][],
    recheck: Ledger['recheck'],
    ask: () => Promise<unknown>,
    { settleWaitMs = 50, ...changes }: Partial<LedgerIntent> & { settleWaitMs?: number } = {},
  ) {
    let searches = 0;
    const paymentsFor = async () => {
      const state = states[Math.min(searches, states.length - 1)];
      searches += 1;
      return [{ ...intent, id: state, state, ...changes }] as unknown as ResourcePayment[];
    };
    const { paid, pending } = await findPayment({
      ledger: { paymentsFor, recheck } as unknown as Ledger,
      statusCache: new StatusCache({ fetchStatus: ask as never, now: () => 0 }),
      browser: new Uint8Array(32),
      requirement: { resource: 'r', money: undefined, currency: undefined, order: undefined },
      settleWaitMs,
    });
    return [searches, paid?.id, pending?.id];
  }
  const paid = async () => ({ exists: true, codeScanned: true, intentSubmitted: true });
  const unpaid = async () => ({ ...(await paid()), intentSubmitted: false });

  test.each([
    ['a ledger that never settles', 'created', hanging, paid],
    ['a hook that never ends', 'submitted', hanging, paid],
    ['a sequencer that never answers', 'created', async () => {}, hanging],
  ] as const)('stops waiting for %s, and searches once more', async (_name, state, recheck, ask) => {
    // Without its bound the search would not end.
    expect((await search([state], recheck, ask))[0]).toBe(2);
  });

  test.each(['settled', 'created', 'reversed', 'dead', 'expired', 'creating'] as const)(
    'does not wait for a payment that is %s and not submitted',
    async (state) => {
      const [isPaid, isPending] = [state === 'settled', state === 'dead'];
      const expected = [1, isPaid ? state : undefined, isPending ? state : undefined];
      expect(await search([state], hanging, unpaid)).toEqual(expected);
    },
  );

  test('waits for a submitted payment whose hook was called before, in another process', async () => {
    const states: LedgerIntent['state'][] = ['submitted', 'submitted', 'submitted', 'settled'];
    const found = await search(states, async () => {}, hanging, { settleWaitMs: 60_000 });
    expect(found).toEqual([4, 'settled', undefined]);
  });

  test.each(['verifyPayment', 'onReversed'] as const)('ignores a dead letter of %s', async (deadLetterHook) => {
    expect(await search(['dead'], hanging, hanging, { deadLetterHook })).toEqual([1, undefined, undefined]);
  });
});

async function startSiteWithLedger(options: LedgerSiteOptions): Promise<LedgerSite> {
  return startLedgerSite({ ledger: { url: await sharedUrl }, payment }, options);
}
let sharedUrl: Promise<string>;
beforeAll(() => {
  sharedUrl = newDatabaseUrl('postgres');
  return sharedUrl;
});
