import cookieSession from 'cookie-session';
import type { RequestHandler } from 'express';
import session from 'express-session';
import type { Simulator } from '../../../src/simulator/index.js';
import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { startLedgerSite } from '../../support/sites/ledger-site.js';
import { domain, type SiteOptions, startSiteWithSimulator } from '../../support/sites/site.js';

// The repetition of a completed login by a browser that was already logged in as the same user.

type Site = { readonly origin: string; readonly simulator: Simulator };

/** Options that record the calls of the hooks. */
function recording(middlewares: RequestHandler[] = []) {
  const calls: string[] = [];
  const options = {
    before: (app) => middlewares.length > 0 && app.use(...middlewares),
    onLogin: () => void calls.push('onLogin'),
    onSession: () => void calls.push('onSession'),
  } satisfies SiteOptions;
  return { calls, options };
}

/** Starts a login and confirms it in a wallet. */
async function confirm({ simulator }: Site, browser: Browser): Promise<string> {
  const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
  await simulator.wallet('Ada').login(secret);
  return intentIdOf(secret);
}

const complete = (browser: Browser, id: string, key = 'one') =>
  browser.send('POST', '/session', { id }, { 'idempotency-key': key });

const ada = ({ simulator }: Site) => ({ user: { id: simulator.wallet('Ada').userId(domain) } });

const signedCookie = (): RequestHandler => cookieSession({ name: 'app', keys: ['test'] });

test.each([
  ['a sealed cookie', () => [], 'intent-session'],
  ['cookie-session', () => [signedCookie()], 'app'],
] as [string, () => RequestHandler[], string][])(
  'a repeated login whose response was lost starts a session in another process, with %s',
  async (_name, middlewares, cookie) => {
    const databaseUrl = await newDatabaseUrl('postgres');
    const [first, second] = [recording(middlewares()), recording(middlewares())];
    const site = await startLedgerSite({ ledger: { url: databaseUrl } }, first.options);
    const other = await startLedgerSite(
      { ledger: { url: databaseUrl }, runningSimulator: site.simulator },
      second.options,
    );
    const browser = new Browser(site.origin);
    expect((await complete(browser, await confirm(site, browser))).status).toBe(200);

    const id = await confirm(site, browser);
    const elsewhere = new Browser(other.origin, browser.cookies);
    expect((await complete(browser, id)).status).toBe(200);
    const retried = await complete(elsewhere, id);
    expect(retried).toMatchObject({ status: 200, body: ada(site) });
    expect(retried.headers.getSetCookie().join()).toContain(`${cookie}=`);
    expect([first.calls, second.calls]).toEqual([['onLogin', 'onSession', 'onLogin', 'onSession'], ['onSession']]);
  },
);

describe.each(kinds)('with a ledger in %s', (kind) => {
  test('a login whose commit has an unknown outcome starts its session at the retry', async () => {
    const store = new session.MemoryStore();
    const { calls, options } = recording([session({ secret: 'test', resave: false, saveUninitialized: false, store })]);
    const site = await startLedgerSite({ ledger: { url: await newDatabaseUrl(kind) } }, options);
    const browser = new Browser(site.origin);
    expect((await complete(browser, await confirm(site, browser))).status).toBe(200);
    const before = browser.cookies.get('connect.sid');
    calls.length = 0;

    const id = await confirm(site, browser);
    site.faults.failOnce('completeLogin', 'after');
    expect((await complete(browser, id)).status).toBe(503);
    expect(calls).toEqual(['onLogin']);
    expect(await complete(browser, id)).toMatchObject({ status: 200, body: ada(site) });
    expect(calls).toEqual(['onLogin', 'onSession']);
    expect(browser.cookies.get('connect.sid')).not.toBe(before);
  });

  test('a login that was completed two minutes ago starts no session', async () => {
    const { calls, options } = recording();
    const site = await startLedgerSite({ ledger: { url: await newDatabaseUrl(kind) } }, options);
    const browser = new Browser(site.origin);
    const id = await confirm(site, browser);
    expect((await complete(browser, id)).status).toBe(200);
    const completedAgo = (seconds: number) =>
      site.router.database.query(
        `update express_intents.logins set completed_at = now() - $2 * interval '1 second' where intent_id = $1`,
        [id, seconds],
      );
    await completedAgo(60);
    expect((await complete(browser, id, 'two')).status).toBe(200);
    await completedAgo(120);
    expect((await complete(browser, id, 'two')).status).toBe(404);
    expect(calls).toEqual(['onLogin', 'onSession', 'onSession']);
  });
});

test('without a ledger a login that was completed two minutes ago starts no session', async () => {
  let now = 1_800_000_000_000;
  const { calls, options } = recording();
  const site = await startSiteWithSimulator(options, { testClock: () => now, login: { ttlMs: 600_000 } });
  const browser = new Browser(site.origin);
  const id = await confirm(site, browser);
  now += 300_000;
  expect((await complete(browser, id)).status).toBe(200);
  now += 119_999;
  expect((await complete(browser, id, 'two')).status).toBe(200);
  now += 1;
  expect((await complete(browser, id, 'two')).status).toBe(404);
  expect(calls).toEqual(['onLogin', 'onSession', 'onSession']);
});
