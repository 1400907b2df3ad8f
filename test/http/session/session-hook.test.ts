import { jest } from '@jest/globals';
import cookieSession from 'cookie-session';
import type { Express, Request, RequestHandler } from 'express';
import session from 'express-session';
import { Passport } from 'passport';
import { refuse } from '../../../src/http/hook-errors.js';
import { currentUser, logOut } from '../../../src/http/session/require-login.js';
import type { Hooks } from '../../../src/index.js';
import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { domain, expressVersions, type SiteOptions, startSiteWithSimulator } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';

// The data of the app's session across a login and a logout, and the hook `onSession`.

type OnSession = NonNullable<Hooks['onSession']>;
type Content = Record<string, unknown>;

const contentOf = (req: Request): Content => (req as unknown as { session?: Content | null }).session ?? {};

/** `POST /data` adds to the session, `GET /data` reads it. */
const dataRoutes = (app: Express): void => {
  app.post('/data', (req, res) => {
    const { searchParams } = new URL(req.originalUrl, 'http://a');
    Object.assign(contentOf(req), Object.fromEntries(searchParams));
    if (searchParams.has('list')) contentOf(req).drafts = [searchParams.get('list')];
    res.json({});
  });
  app.get('/data', (req, res) => {
    const { cookie: _cookie, ...content } = contentOf(req);
    res.json(content);
  });
  app.post('/leave', async (req, res) => {
    await logOut(req, res);
    res.json({ user: (await currentUser(req)) ?? null });
  });
};

interface Account {
  readonly id: string;
}

/** Passport with its methods on the request. An account is its id. */
function passport(): RequestHandler[] {
  const authenticator = new Passport();
  authenticator.serializeUser((account, done) => done(null, (account as Account).id));
  authenticator.deserializeUser((id: string, done) => done(null, { id }));
  return [authenticator.initialize() as RequestHandler, authenticator.session() as RequestHandler];
}

/** Passport calls these methods, which cookie-session does not have. */
const methodsForPassport: RequestHandler = (req, _res, next) => {
  const nothing = (done: () => void): void => done();
  Object.assign(contentOf(req), { regenerate: nothing, save: nothing });
  next();
};

const expressSession = (): RequestHandler[] => [session({ secret: 'test', resave: false, saveUninitialized: false })];
const signedCookie = (): RequestHandler[] => [cookieSession({ name: 'app', keys: ['test'] }), methodsForPassport];
const kinds: [name: string, middlewares: () => RequestHandler[]][] = [
  ['express-session', expressSession],
  ['cookie-session', signedCookie],
];
const everywhere = Object.entries(expressVersions).flatMap(([version, factory]) =>
  kinds.map(([kind, middlewares]) => [kind, version, middlewares, factory] as const),
);

/** The hook of the current test. */
let onSession: OnSession;
beforeEach(() => {
  onSession = () => undefined;
});

function start(middlewares: RequestHandler[], options: SiteOptions = {}) {
  return startSiteWithSimulator(
    {
      before: (app) => {
        if (middlewares.length > 0) app.use(...middlewares, ...passport());
        app.get('/passport', (req, res) => void res.json({ account: (req.user as Account | undefined)?.id ?? null }));
      },
      after: dataRoutes,
      login: { keepSession: ['basket', 'drafts'] },
      onSession: (...args) => onSession(...args),
    },
    options,
  );
}

type Site = Awaited<ReturnType<typeof start>>;

/** A login that the wallet has confirmed. */
async function confirm({ simulator }: Site, browser: Browser, wallet = 'Ada') {
  const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
  await simulator.wallet(wallet).login(secret);
  const id = intentIdOf(secret);
  return { id, complete: () => browser.send('POST', '/session', { id }) };
}

const dataOf = async (browser: Browser): Promise<Content> => (await browser.send('GET', '/data')).body;
const userOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/session')).body.user;
const accountOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/passport')).body.account;
const walletOf = ({ simulator }: Site, name = 'Ada') => ({ id: simulator.wallet(name).userId(domain) });

/** Logs in to passport, as an integrator does. */
const passportLogin = (req: Request, id: string): Promise<void> =>
  new Promise((resolve, reject) => req.login({ id }, (error: unknown) => (error ? reject(error) : resolve())));

describe.each(everywhere)('%s on %s', (_kind, _version, middlewares, factory) => {
  let site: Site;
  beforeAll(async () => {
    site = await start(middlewares(), { factory });
  });

  test('a login keeps the members of keepSession and discards the others', async () => {
    const browser = new Browser(site.origin);
    await browser.send('POST', '/data?basket=tea&draft=secret');
    expect((await (await confirm(site, browser)).complete()).status).toBe(200);
    expect(await dataOf(browser)).toEqual({ basket: 'tea', intentUser: walletOf(site) });
  });

  test('onSession writes to the new session, in which the user is logged in', async () => {
    const browser = new Browser(site.origin);
    await browser.send('POST', '/data?draft=secret');
    const seen: unknown[] = [];
    onSession = async (user, req) => {
      seen.push({ user, hasDraft: 'draft' in contentOf(req), current: await currentUser(req) });
      contentOf(req).userId = 7;
    };
    expect((await (await confirm(site, browser)).complete()).body).toEqual({ user: walletOf(site) });
    expect(seen).toEqual([{ user: walletOf(site), hasDraft: false, current: walletOf(site) }]);
    expect(await dataOf(browser)).toEqual({ userId: 7, intentUser: walletOf(site) });
  });

  test('req.login() of passport in onSession logs in to both, and keeps keepSession', async () => {
    const browser = new Browser(site.origin);
    await browser.send('POST', '/data?basket=tea');
    onSession = (_user, req) => passportLogin(req, 'account-7');
    expect((await (await confirm(site, browser)).complete()).status).toBe(200);
    expect(await accountOf(browser)).toBe('account-7');
    expect(await userOf(browser)).toEqual(walletOf(site));
    expect(await dataOf(browser)).toMatchObject({ basket: 'tea' });
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no database')), 500, 'internal_error'],
    ['refuses', () => refuse('This account is closed.', 403), 403, 'request_refused'],
  ])(
    'when onSession %s, the visitor keeps the old data without a login, and can retry',
    async (_name, act, ...expected) => {
      const browser = new Browser(site.origin);
      await browser.send('POST', '/data?basket=tea&draft=mine&list=mine');
      const { complete } = await confirm(site, browser);
      onSession = async (_user, req) => {
        contentOf(req).basket = 'emptied';
        (contentOf(req).drafts as string[] | undefined)?.push('changed');
        await passportLogin(req, 'account-7');
        contentOf(req).userId = 7;
        await act();
      };
      const { status, body } = await complete();
      expect([status, body.code]).toEqual(expected);
      expect(site.log.text.includes('onSession failed')).toBe(status === 500);
      site.log.lines.length = 0;
      expect(await dataOf(browser)).toEqual({ basket: 'tea', draft: 'mine', list: 'mine', drafts: ['mine'] });
      expect([await userOf(browser), await accountOf(browser)]).toEqual([null, null]);
      onSession = (_user, req) => passportLogin(req, 'account-7');
      expect((await complete()).status).toBe(200);
      expect(await accountOf(browser)).toBe('account-7');
      expect(await dataOf(browser)).toMatchObject({ basket: 'tea' });
    },
  );

  test('a login with another wallet keeps no data of the earlier user, with the same wallet it does', async () => {
    const browser = new Browser(site.origin);
    await (await confirm(site, browser, 'Ada')).complete();
    await browser.send('POST', '/data?basket=tea&draft=x');
    await (await confirm(site, browser, 'Ada')).complete();
    expect(await dataOf(browser)).toEqual({ basket: 'tea', intentUser: walletOf(site, 'Ada') });
    await (await confirm(site, browser, 'Ben')).complete();
    expect(await dataOf(browser)).toEqual({ intentUser: walletOf(site, 'Ben') });
  });

  test('logOut() empties the session, also for currentUser() of the same request', async () => {
    const browser = new Browser(site.origin);
    onSession = (_user, req) => passportLogin(req, 'account-7');
    await browser.send('POST', '/data?basket=tea');
    await (await confirm(site, browser)).complete();
    const before = new Map(browser.cookies);
    expect(await browser.send('POST', '/leave')).toMatchObject({ status: 200, body: { user: null } });
    expect([await userOf(browser), await accountOf(browser)]).toEqual([null, null]);
    expect(await dataOf(browser)).toEqual({});
    // The old session id is invalid. A copy of a signed cookie has no id that could be invalidated.
    if (before.has('connect.sid')) expect(await userOf(new Browser(site.origin, before))).toBeNull();
  });

  test('logOut() without a login leaves the session of the app unchanged', async () => {
    const browser = new Browser(site.origin);
    await browser.send('POST', '/data?basket=tea');
    const cookies = new Map(browser.cookies);
    expect(await browser.send('POST', '/leave')).toMatchObject({ status: 200, body: { user: null } });
    expect(await dataOf(browser)).toEqual({ basket: 'tea' });
    expect(browser.cookies).toEqual(cookies);
  });
});

test('onSession that never returns ends with 500 after the timeout, and the login can be retried', async () => {
  const expire = holdTimeouts(30_000);
  const site = await start(expressSession());
  const browser = new Browser(site.origin);
  await browser.send('POST', '/data?basket=tea');
  const { complete } = await confirm(site, browser);
  onSession = () => {
    setImmediate(expire);
    return new Promise(() => undefined);
  };
  const { status, body } = await complete();
  expect([status, body.code]).toEqual([500, 'internal_error']);
  expect(site.log.text).toContain('onSession timed out after 30000 ms. Move slow work out of the hook.');
  expect(await dataOf(browser)).toEqual({ basket: 'tea' });
  onSession = () => undefined;
  expect((await complete()).status).toBe(200);
});

test('a session store that fails after onSession failed leaves no login', async () => {
  const store = new session.MemoryStore();
  const site = await start([session({ secret: 'test', resave: false, saveUninitialized: false, store })]);
  const browser = new Browser(site.origin);
  await browser.send('POST', '/data?basket=tea');
  const { complete } = await confirm(site, browser);
  const set = jest.spyOn(store, 'set');
  onSession = () => {
    set.mockImplementation((_sid, _data, done) => done?.(new Error('store is down')));
    return refuse('Closed.', 403);
  };
  // The visitor gets the reason of the hook.
  expect((await complete()).status).toBe(403);
  set.mockRestore();
  expect(await userOf(browser)).toBeNull();
  onSession = () => undefined;
  expect((await complete()).status).toBe(200);
});

describe.each(Object.entries(expressVersions))('the sealed cookie on %s', (_version, factory) => {
  let site: Site;
  beforeAll(async () => {
    site = await start([], { factory });
  });

  test('starts after onSession, which can set a cookie of the app', async () => {
    const browser = new Browser(site.origin);
    const seen: unknown[] = [];
    onSession = async (user, req) => {
      seen.push(user, await currentUser(req), 'session' in req);
      req.res?.cookie('account', '7');
    };
    expect((await (await confirm(site, browser)).complete()).status).toBe(200);
    expect(seen).toEqual([walletOf(site), walletOf(site), false]);
    expect(browser.cookies.get('account')).toBe('7');
    expect(await userOf(browser)).toEqual(walletOf(site));
  });

  test('is not set when onSession throws, and the login can be retried', async () => {
    const browser = new Browser(site.origin);
    const { complete } = await confirm(site, browser);
    onSession = () => Promise.reject(new Error('no database'));
    const failed = await complete();
    expect([failed.status, failed.headers.getSetCookie()]).toEqual([500, []]);
    expect(await userOf(browser)).toBeNull();
    onSession = () => undefined;
    expect((await complete()).status).toBe(200);
    expect(await userOf(browser)).toEqual(walletOf(site));
  });

  test('ends with logOut(), also for currentUser() of the same request', async () => {
    const browser = new Browser(site.origin);
    await (await confirm(site, browser)).complete();
    expect(await browser.send('POST', '/leave')).toMatchObject({ status: 200, body: { user: null } });
    expect(browser.cookies.get('intent-session') ?? '').toBe('');
    expect(await userOf(browser)).toBeNull();
    expect((await browser.send('POST', '/leave')).status).toBe(200);
  });
});

describe('logOut()', () => {
  test('rejects with router_missing without a router, and resolves when logins are disabled', async () => {
    await expect(logOut({} as never, {} as never)).rejects.toMatchObject({ code: 'router_missing' });
    const site = await start([], { login: false });
    expect((await new Browser(site.origin).send('POST', '/leave')).body).toEqual({ user: null });
  });
});
