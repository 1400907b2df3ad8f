import { jest } from '@jest/globals';
import session from 'express-session';
import { refuse } from '../../../src/http/hook-errors.js';
import { currentUser } from '../../../src/http/session/require-login.js';
import type { Hooks } from '../../../src/index.js';
import { generateKeyPair } from '../../../src/keys/verifier-key.js';
import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import {
  type LedgerSite,
  type LedgerSiteOptions,
  startLedgerSite,
  untilState,
} from '../../support/sites/ledger-site.js';
import { domain, type Site, startSiteWithSimulator } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';

type OnLogin = NonNullable<Hooks['onLogin']>;

const login = { mode: 'login' };
const hookTimeoutMs = 29_000;
/** How long a request waits for an earlier one for the same login. */
const waitMs = 5_000;

/** A login that the wallet has confirmed and the browser has not completed. */
async function confirmed({ origin, simulator }: Pick<LedgerSite, 'origin' | 'simulator'>, body: object = login) {
  const browser = new Browser(origin);
  const secret = String((await browser.send('POST', '/intent', body)).body.client_secret);
  await simulator.wallet('Ada').confirm(secret);
  const id = intentIdOf(secret);
  const complete = (at = browser) => at.send('POST', '/session', { id });
  return { id, browser, complete };
}

const userOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/session')).body.user;
const ada = ({ simulator }: Pick<LedgerSite, 'simulator'>) => ({ id: simulator.wallet('Ada').userId(domain) });

/** A store of express-session that can be down. */
class FlakyStore extends session.MemoryStore {
  isDown = false;
  override set(sid: string, data: session.SessionData, done?: (error?: unknown) => void): void {
    if (this.isDown) done?.(new Error('store is down'));
    else super.set(sid, data, done);
  }
}

describe.each(kinds)('a login, with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const store = new FlakyStore();
  const welcome: OnLogin = async (user, _req, { tx, intent }) => {
    await tx?.query('insert into welcomed (user_id, intent) values ($1, $2)', [user.id, intent]);
  };
  let onLogin: OnLogin;
  let expire: () => void;
  const welcomed = async (id: string): Promise<readonly object[]> =>
    (await site.router.database.query('select user_id from welcomed where intent = $1', [id])).rows;

  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl(kind), hookLimits: { timeoutMs: hookTimeoutMs } },
      before: (app) => app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store })),
      payment: () => ({ amount: 2, currency: 'usd', login: true }),
      onLogin: (...args) => onLogin(...args),
    });
    await site.router.database.query('create table welcomed (user_id text, intent text)');
  });
  beforeEach(() => {
    onLogin = welcome;
    store.isDown = false;
    expire = holdTimeouts(hookTimeoutMs, waitMs);
  });

  test('commits together with the writes of onLogin, before the session starts', async () => {
    const { id, browser, complete } = await confirmed(site);
    const seen: unknown[] = [];
    onLogin = async (user, req, context) => {
      seen.push({ user, path: req.path, before: await currentUser(req), intent: context.intent });
      await welcome(user, req, context);
    };
    expect(await complete()).toMatchObject({ status: 200, body: { user: ada(site) } });
    expect(seen).toEqual([{ user: ada(site), path: '/session', before: undefined, intent: id }]);
    expect(await welcomed(id)).toEqual([{ user_id: ada(site).id }]);
    expect(await userOf(browser)).toEqual(ada(site));
    const recorded = await site.router.intents.find(id);
    expect(recorded).toMatchObject({ state: 'completed', userId: ada(site).id, loginCompletedAt: expect.any(Date) });
    expect((await complete()).status).toBe(404);
  });

  test.each([
    ['refuses it', () => refuse('Not today.', 403), 403, 'request_refused'],
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
      500,
      'internal_error',
    ],
    [
      'never returns',
      () => {
        setImmediate(expire);
        return new Promise<void>(() => undefined);
      },
      500,
      'internal_error',
    ],
  ])('can be retried when onLogin %s', async (name, act, status, code) => {
    const { id, browser, complete } = await confirmed(site);
    onLogin = async (...args) => {
      await welcome(...args);
      await act();
    };
    const failed = await complete();
    expect([failed.status, failed.body.code]).toEqual([status, code]);
    expect(failed.body.detail).toBe(status === 403 ? 'Not today.' : undefined);
    if (name === 'never returns') {
      const text =
        'onLogin timed out after 29000 ms. Move slow work out of the hook, or raise ledger.hookLimits.timeoutMs.';
      expect(site.log.text).toContain(text);
    }
    expect(await userOf(browser)).toBeNull();
    expect(await welcomed(id)).toEqual([]);
    onLogin = welcome;
    expect((await complete()).status).toBe(200);
    expect(await welcomed(id)).toHaveLength(1);
  });

  test('is completed once by eight concurrent requests', async () => {
    const { id, complete } = await confirmed(site);
    // With a running clock, each wait would be shorter than the one before it.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const answers = await Promise.all(Array.from({ length: 8 }, () => complete()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
    expect(await welcomed(id)).toHaveLength(1);
  });

  test('can be retried when the session store fails', async () => {
    const { id, browser, complete } = await confirmed(site);
    store.isDown = true;
    const failed = await complete();
    expect([failed.status, failed.body.code]).toEqual([503, 'session_unavailable']);
    expect(await userOf(browser)).toBeNull();
    expect((await site.router.intents.find(id))?.loginCompletedAt).toBeUndefined();
    store.isDown = false;
    expect((await complete()).status).toBe(200);
    expect(await userOf(browser)).toEqual(ada(site));
  });

  test('is lost, and logged, when the ledger cannot reopen it after the session store failed', async () => {
    const { id, browser, complete } = await confirmed(site);
    store.isDown = true;
    site.faults.failOnce('reopenLogin', 'before');
    expect((await complete()).body.code).toBe('session_unavailable');
    expect(site.log.text).toContain(
      `login ${id} has no session. Only a retry with the same Idempotency-Key can start one`,
    );
    store.isDown = false;
    expect((await complete()).status).toBe(404);
    expect(await userOf(browser)).toBeNull();
  });

  test.each([
    ['canCompleteLogin', 'before', 200],
    ['completeLogin', 'before', 200],
    // The outcome is unknown, so the login counts as completed.
    ['completeLogin', 'after', 404],
  ] as const)(
    'starts no session when the ledger fails in %s, %s the statement',
    async (method, moment, retryStatus) => {
      const { browser, complete } = await confirmed(site);
      site.faults.failOnce(method, moment);
      const failed = await complete();
      expect([failed.status, failed.body.code]).toEqual([503, 'ledger_unavailable']);
      expect(await userOf(browser)).toBeNull();
      expect((await complete()).status).toBe(retryStatus);
    },
  );

  test('completes for a payment, and the payment has the user id', async () => {
    const { id, browser, complete } = await confirmed(site, { mode: 'payment' });
    expect((await browser.send('GET', `/status/${id}`)).body.intent_submitted).toBe(true);
    expect((await complete()).body).toEqual({ user: ada(site) });
    expect(await welcomed(id)).toHaveLength(1);
    expect(await untilState(site, id, 'settled')).toMatchObject({ userId: ada(site).id, login: true });
  });
});

test('with a ledger in postgres two onLogin run at a time, and while they hang payments are created and settled', async () => {
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let [running, mostRunning] = [0, 0];
  const site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres'), hookLimits: { timeoutMs: 600_000 } },
    onLogin: async () => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await gate;
      running -= 1;
    },
    onPaid: async (_payment, { tx }) => void (await tx.query('select 1')),
  });
  // More than the connections of the pool.
  const logins = await Promise.all(Array.from({ length: 12 }, () => confirmed(site)));
  const expire = holdTimeouts(waitMs);
  const answers: [status: number, code: unknown][] = [];
  const completions = logins.map(async ({ complete }) => {
    const { status, body } = await complete();
    answers.push([status, body.code]);
  });
  const called = () => site.faults.firstOf('completeLogin').length;
  await eventually('two run, and ten wait', () => mostRunning > 2 || (running === 2 && called() === 12));
  expect(mostRunning).toBe(2);

  const buyer = new Browser(site.origin, logins[0]?.browser.cookies);
  const created = await buyer.send('POST', '/intent', { mode: 'payment' }, { 'idempotency-key': 'tea' });
  expect(created.status).toBe(201);
  await site.simulator.wallet('Ben').pay(String(created.body.client_secret));
  await untilState(site, intentIdOf(String(created.body.client_secret)), 'settled');
  expect([answers, running]).toEqual([[], 2]);

  expire();
  await eventually('the waiting logins are answered', () => answers.length === 10);
  expect(answers).toEqual(Array(10).fill([503, 'ledger_unavailable']));
  expect(site.log.text).toContain('A process completes 2 logins at a time. Keep onLogin and transactions short');
  finish();
  await Promise.all(completions);
  expect(answers.slice(10)).toEqual(Array(2).fill([200, undefined]));
  const retries = await Promise.all(logins.map(({ complete }) => complete()));
  expect(retries.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 404, 404]);
  expect(mostRunning).toBe(2);
});

test('requests for the same login wait for one slot, and the login of another user is completed', async () => {
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let [slowIntent, calls] = ['', 0];
  const site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres') },
    onLogin: async (_user, _req, { intent }) => {
      calls += 1;
      if (intent === slowIntent) await gate;
    },
  });
  const [slow, other] = [await confirmed(site), await confirmed(site)];
  slowIntent = slow.id;
  holdTimeouts(waitMs);
  jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  const answers = Array.from({ length: 3 }, () => slow.complete());
  await eventually('all requests have arrived', () => site.faults.firstOf('completeLogin').length === 3 && calls === 1);
  expect((await other.complete()).status).toBe(200);
  finish();
  expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  expect(calls).toBe(2);
});

test('a login whose response was lost is answered again by another process to the same request or its logged-in user', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const first = await startLedgerSite({ ledger: { url: databaseUrl } });
  const other = await startLedgerSite({ ledger: { url: databaseUrl }, runningSimulator: first.simulator });
  const { id, browser } = await confirmed(first);
  const complete = (cookies: ReadonlyMap<string, string>, key = 'two') =>
    new Browser(other.origin, cookies).send('POST', '/session', { id }, { 'idempotency-key': key });
  const withoutSession = new Map(browser.cookies);
  const secret = String((await browser.send('POST', '/intent', login)).body.client_secret);
  await first.simulator.wallet('Ben').confirm(secret);
  expect((await browser.send('POST', '/session', { id: intentIdOf(secret) })).status).toBe(200);
  const loggedInAsBen = new Map(browser.cookies);
  expect((await browser.send('POST', '/session', { id }, { 'idempotency-key': 'one' })).status).toBe(200);

  expect(await complete(browser.cookies)).toMatchObject({ status: 200, body: { user: ada(first) } });
  for (const cookies of [withoutSession, loggedInAsBen]) {
    expect((await complete(cookies)).status).toBe(404);
    expect(await complete(cookies, 'one')).toMatchObject({ status: 200, body: { user: ada(first) } });
  }
  const stranger = new Browser(other.origin);
  await stranger.send('POST', '/intent', login);
  for (const [name, value] of browser.cookies) if (name.includes('session')) stranger.cookies.set(name, value);
  expect(await userOf(stranger)).toEqual(ada(first));
  for (const key of ['one', 'two']) expect((await complete(stranger.cookies, key)).status).toBe(404);
});

describe('a login without a ledger', () => {
  const start = (onLogin: OnLogin): Promise<Site & Pick<LedgerSite, 'simulator'>> =>
    startSiteWithSimulator({ onLogin });

  test('calls onLogin without a transaction', async () => {
    const seen: unknown[] = [];
    const site = await start((user, _req, context) => void seen.push([user, context]));
    const { id, complete } = await confirmed(site);
    expect((await complete()).status).toBe(200);
    expect(seen).toEqual([[ada(site), { tx: undefined, intent: id }]]);
  });

  test('can be retried after onLogin refuses, and is completed once', async () => {
    let isOpen = false;
    const site = await start(() => {
      if (!isOpen) refuse('Not yet.', 409);
    });
    const { browser, complete } = await confirmed(site);
    expect((await complete()).status).toBe(409);
    expect(await userOf(browser)).toBeNull();
    isOpen = true;
    const answers = await Promise.all([complete(), complete(), complete()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });
});

describe('an intent that was created before a rotation of the verifier key', () => {
  async function rotate(terms: Pick<LedgerSiteOptions, 'payment'> = {}) {
    const [old, fresh] = [generateKeyPair().secret, generateKeyPair().secret];
    const databaseUrl = await newDatabaseUrl('postgres');
    const first = await startLedgerSite({ ledger: { url: databaseUrl }, login: { verifierSecret: old } }, terms);
    const browser = new Browser(first.origin);
    const created = await browser.send('POST', '/intent', terms.payment ? {} : login);
    const secret = String(created.body.client_secret);
    await first.router.close();
    const { simulator } = first;
    const site = await startLedgerSite(
      { ledger: { url: databaseUrl }, runningSimulator: simulator, login: { verifierSecret: `${fresh},${old}` } },
      terms,
    );
    await simulator.wallet('Ada').confirm(secret);
    return { site, id: intentIdOf(secret), browser: new Browser(site.origin, browser.cookies) };
  }

  test('completes its login', async () => {
    const { site, id, browser } = await rotate();
    const completed = await browser.send('POST', '/session', { id });
    expect([completed.status, completed.body]).toEqual([200, { user: ada(site) }]);
  });

  test('settles its payment with the user id', async () => {
    const { site, id } = await rotate({ payment: () => ({ amount: 2, currency: 'usd', login: true }) });
    expect((await untilState(site, id, 'settled')).userId).toBe(ada(site).id);
  });
});
