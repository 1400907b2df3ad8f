import session from 'express-session';
import { refuse } from '../../src/http/response/problem.js';
import { currentUser } from '../../src/http/session/require-login.js';
import type { Hooks } from '../../src/index.js';
import { Browser } from '../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { domain, type Site, startSiteWithSequencer } from '../support/sites/site.js';
import { holdTimeouts } from '../support/timeouts.js';

type OnLogin = NonNullable<Hooks['onLogin']>;

const login = { mode: 'login' };
const hookTimeoutMs = 29_000;

/** A login that the wallet has confirmed, and that the browser has still to complete. */
async function confirmed({ origin, sequencer }: Pick<LedgerSite, 'origin' | 'sequencer'>, body: object = login) {
  const browser = new Browser(origin);
  const secret = String((await browser.send('POST', '/intent', body)).body.client_secret);
  await sequencer.wallet('Ada').confirm(secret);
  const id = intentIdOf(secret);
  const complete = (at = browser) => at.send('POST', '/session', { id });
  return { id, browser, complete };
}

const userOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/session')).body.user;
const ada = ({ sequencer }: Pick<LedgerSite, 'sequencer'>) => ({ id: sequencer.wallet('Ada').userId(domain) });

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
      databaseUrl: await newDatabaseUrl(kind),
      before: (app) => app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store })),
      payment: () => ({ amount: 2, currency: 'usd', login: true }),
      onLogin: (...given) => onLogin(...given),
      hooks: { timeoutMs: hookTimeoutMs },
    });
    await site.router.database.query('create table welcomed (user_id text, intent text)');
  });
  beforeEach(() => {
    onLogin = welcome;
    store.isDown = false;
    expire = holdTimeouts(hookTimeoutMs);
  });

  test('is completed together with what onLogin writes, before its session begins', async () => {
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
    const kept = await site.router.intents.find(id);
    expect(kept).toMatchObject({ userId: ada(site).id, loginCompletedAt: expect.any(Date) });
    expect((await complete()).status).toBe(404);
  });

  test.each([
    ['refuses', () => refuse('Not today.', 403), 403, 'request_refused'],
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
      500,
      'internal_error',
    ],
    [
      'never ends',
      () => {
        setImmediate(expire);
        return new Promise<void>(() => undefined);
      },
      500,
      'internal_error',
    ],
  ])('can be completed later when onLogin %s', async (_name, act, status, code) => {
    const { id, browser, complete } = await confirmed(site);
    onLogin = async (...given) => {
      await welcome(...given);
      await act();
    };
    const failed = await complete();
    expect([failed.status, failed.body.code]).toEqual([status, code]);
    expect(failed.body.detail).toBe(status === 403 ? 'Not today.' : undefined);
    expect(await userOf(browser)).toBeNull();
    expect(await welcomed(id)).toEqual([]);
    onLogin = welcome;
    expect((await complete()).status).toBe(200);
    expect(await welcomed(id)).toHaveLength(1);
  });

  test('counts once, however many complete it at the same time', async () => {
    const { id, complete } = await confirmed(site);
    const answers = await Promise.all(Array.from({ length: 8 }, () => complete()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
    expect(await welcomed(id)).toHaveLength(1);
  });

  test('is nobody else’s', async () => {
    const { complete } = await confirmed(site);
    const stranger = new Browser(site.origin);
    expect((await complete(stranger)).status).toBe(404);
    await stranger.send('POST', '/intent', login);
    expect((await complete(stranger)).status).toBe(404);
    expect((await complete()).status).toBe(200);
  });

  test('can be completed later when the session could not be begun', async () => {
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

  test('is lost, and the log says so, when even that could not be noted', async () => {
    const { id, browser, complete } = await confirmed(site);
    store.isDown = true;
    site.faults.failOnce('reopenLogin', 'before');
    expect((await complete()).body.code).toBe('session_unavailable');
    expect(site.log.text).toContain(`the login ${id} began no session, and has to be begun again`);
    store.isDown = false;
    expect((await complete()).status).toBe(404);
    expect(await userOf(browser)).toBeNull();
  });

  test.each([
    ['canCompleteLogin', 'before', 200],
    ['completeLogin', 'before', 200],
    // Nobody knows whether it was completed, so that it counts as if it was.
    ['completeLogin', 'after', 404],
  ] as const)('begins no session when the ledger fails: %s, %s', async (method, moment, then) => {
    const { browser, complete } = await confirmed(site);
    site.faults.failOnce(method, moment);
    const failed = await complete();
    expect([failed.status, failed.body.code]).toEqual([503, 'ledger_unavailable']);
    expect(await userOf(browser)).toBeNull();
    expect((await complete()).status).toBe(then);
  });

  test('comes with a payment, which then knows its payer', async () => {
    const { id, browser, complete } = await confirmed(site, { mode: 'payment' });
    expect((await browser.send('GET', `/status/${id}`)).body.intent_submitted).toBe(true);
    expect((await complete()).body).toEqual({ user: ada(site) });
    expect(await welcomed(id)).toHaveLength(1);
    expect(await untilState(site, id, 'settled')).toMatchObject({ userId: ada(site).id, login: true });
  });
});

test('a login that was begun in one process is completed in one of two others, once', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const begun = await startLedgerSite({ databaseUrl });
  const { id, browser } = await confirmed(begun);
  await begun.router.close();
  const others = [
    await startLedgerSite({ databaseUrl, sequencer: begun.sequencer }),
    await startLedgerSite({ databaseUrl, sequencer: begun.sequencer }),
  ].map(({ origin }) => new Browser(origin, browser.cookies));
  const answers = await Promise.all(others.map((other) => other.send('POST', '/session', { id })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  const winner = others[answers.findIndex(({ status }) => status === 200)] ?? browser;
  const elsewhere = new Browser((others[0] ?? browser).origin, winner.cookies);
  expect(await userOf(elsewhere)).toEqual(ada(begun));
});

describe('without a ledger', () => {
  const start = (onLogin: OnLogin): Promise<Site & Pick<LedgerSite, 'sequencer'>> =>
    startSiteWithSequencer({ onLogin });

  test('onLogin is called without a transaction', async () => {
    const seen: unknown[] = [];
    const site = await start((user, _req, context) => void seen.push([user, context]));
    const { id, complete } = await confirmed(site);
    expect((await complete()).status).toBe(200);
    expect(seen).toEqual([[ada(site), { tx: undefined, intent: id }]]);
  });

  test('a login that onLogin refuses can be completed later, and another meanwhile not', async () => {
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
