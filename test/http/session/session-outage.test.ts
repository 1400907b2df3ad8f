import { jest } from '@jest/globals';
import type { ErrorRequestHandler, Request } from 'express';
import session from 'express-session';
import { currentUser, logOut } from '../../../src/http/session/require-login.js';
import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { domain, startSiteWithSimulator } from '../../support/sites/site.js';

// Logins and logouts while the store of the app's session is down, and after it has recovered.

interface Basket {
  basket?: string;
}

const basketOf = (req: Request): Basket => (req as { session?: Basket }).session ?? {};

async function start() {
  const store = new session.MemoryStore();
  const events: string[] = [];
  let now = 1_800_000_000_000;
  const site = await startSiteWithSimulator({
    testClock: () => now,
    login: { keepSession: ['basket'], sessionTtlMs: 3_600_000 },
    before: (app) => {
      app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store }));
      const continueWithoutSession: ErrorRequestHandler = (_error, _req, _res, next) => next();
      app.use(continueWithoutSession);
    },
    onEvent: ({ type }) => void events.push(type),
    after: (app) => {
      app.post('/leave', (req, res) => {
        logOut(req, res).then(
          () => res.status(204).end(),
          ({ code, status }) => res.status(status).json({ code }),
        );
      });
      app.post('/basket/:item', (req, res) => {
        basketOf(req).basket = req.params.item;
        res.json({});
      });
      app.get('/basket', async (req, res) => {
        const user = await currentUser(req);
        res.json({ user: user ?? null, basket: basketOf(req).basket ?? null });
      });
    },
  });
  const browser = new Browser(site.origin);
  const logIn = async (wallet: string): Promise<void> => {
    const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
    await site.simulator.wallet(wallet).login(secret);
    expect((await browser.send('POST', '/session', { id: intentIdOf(secret) })).status).toBe(200);
  };
  const walletOf = (name: string) => ({ id: site.simulator.wallet(name).userId(domain) });
  const expireCookie = (): void => {
    now += 3_600_001;
  };
  return { store, events, browser, logIn, walletOf, expireCookie };
}

const userOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/session')).body.user;
const pageOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/basket')).body;

/** Ada has a login and a basket in the session of the app. During an outage of its store Ben logs in on the same browser. */
async function startWithTwoLogins() {
  const site = await start();
  const { store, browser, logIn } = site;
  await logIn('Ada');
  await browser.send('POST', '/basket/of-ada');
  // The events of a store on which express-session omits req.session, and adds it again.
  store.emit('disconnect');
  expect((await browser.send('DELETE', '/session')).status).toBe(503);
  await logIn('Ben');
  store.emit('connect');
  return site;
}

test('a login during an outage ends the earlier login of another user, which does not return when the later one expires', async () => {
  const { store, browser, walletOf, expireCookie } = await startWithTwoLogins();
  const copy = new Map(browser.cookies);
  expect(await userOf(browser)).toEqual(walletOf('Ben'));
  expect(await pageOf(browser)).toEqual({ user: walletOf('Ben'), basket: null });
  expireCookie();
  expect(await userOf(browser)).toBeNull();
  expect(await userOf(new Browser(browser.origin, copy))).toBeNull();
  expect(JSON.stringify(store)).not.toContain('of-ada');
});

test('a later login in the session keeps no data of the user from before the outage', async () => {
  const { browser, logIn, walletOf } = await startWithTwoLogins();
  await logIn('Ben');
  expect(await pageOf(browser)).toEqual({ user: walletOf('Ben'), basket: null });
});

test('a page of the user who logged in during an outage has no data of the earlier user, even if the store fails again', async () => {
  const { store, browser, walletOf } = await startWithTwoLogins();
  jest.spyOn(store, 'destroy').mockImplementation((_sid, done) => done?.(new Error('store is down')));
  expect(await pageOf(browser)).toEqual({ user: walletOf('Ben'), basket: null });
  jest.restoreAllMocks();
  expect(await userOf(browser)).toEqual(walletOf('Ben'));
  browser.cookies.delete('intent-session');
  expect(await userOf(browser)).toBeNull();
});

test('a login of the same user during an outage leaves the session unchanged', async () => {
  const { store, browser, logIn, walletOf } = await start();
  await logIn('Ada');
  await browser.send('POST', '/basket/of-ada');
  store.emit('disconnect');
  await logIn('Ada');
  store.emit('connect');
  expect(await pageOf(browser)).toEqual({ user: walletOf('Ada'), basket: 'of-ada' });
});

describe.each([
  ['DELETE', '/session'],
  ['POST', '/leave'],
])('%s %s', (method, path) => {
  test.each<[string, (store: session.MemoryStore) => unknown]>([
    ['is disconnected', (store) => store.emit('disconnect')],
    [
      'cannot load the session and the app continues',
      (store) => jest.spyOn(store, 'get').mockImplementation((_sid, done) => done(new Error('store is down'))),
    ],
  ])('answers 503 when the store %s, and the login remains', async (_name, fail) => {
    const { store, events, browser, logIn, walletOf } = await start();
    await logIn('Ada');
    fail(store);
    const failed = await browser.send(method, path);
    expect([failed.status, failed.body.code]).toEqual([503, 'session_unavailable']);
    expect(events).not.toContain('logged_out');
    jest.restoreAllMocks();
    store.emit('connect');
    expect(await userOf(browser)).toEqual(walletOf('Ada'));
    expect((await browser.send(method, path)).status).toBe(204);
    expect(await userOf(browser)).toBeNull();
  });

  test('ends a login in the sealed cookie when the store cannot end the one in the session, and answers 503', async () => {
    const { store, browser, logIn, walletOf } = await start();
    await logIn('Ada');
    store.emit('disconnect');
    await logIn('Ada');
    store.emit('connect');
    jest.spyOn(store, 'destroy').mockImplementation((_sid, done) => done?.(new Error('store is down')));
    const failed = await browser.send(method, path);
    expect([failed.status, failed.body.code]).toEqual([503, 'session_unavailable']);
    expect(browser.cookies.has('intent-session')).toBe(false);
    jest.restoreAllMocks();
    expect(await userOf(browser)).toEqual(walletOf('Ada'));
    expect((await browser.send(method, path)).status).toBe(204);
    expect(await userOf(browser)).toBeNull();
  });
});
