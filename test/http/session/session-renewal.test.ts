import type { Express, Request, RequestHandler } from 'express';
import session from 'express-session';
import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type SiteOptions, startSiteWithSimulator } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';

/** The app's own use of its session. */
interface Basket {
  basket?: string | undefined;
  intentUser?: { id: string };
}
const sessionOf = (req: Request): Basket => (req as { session?: Basket | null }).session ?? {};

const basket = (app: Express): void => {
  app.get('/fill', (req, res) => {
    sessionOf(req).basket = 'tea';
    res.send('filled');
  });
  app.get('/basket', (req, res) => void res.json({ basket: sessionOf(req).basket ?? null }));
};

function start(middleware: RequestHandler, options: SiteOptions = {}) {
  return startSiteWithSimulator({ before: (app) => void app.use(middleware), after: basket, ...options });
}

type Site = Awaited<ReturnType<typeof start>>;

/** Starts a login and confirms it in a wallet. */
async function confirm({ simulator }: Site, browser: Browser): Promise<string> {
  const { status, body } = await browser.send('POST', '/intent', { mode: 'login' });
  expect(status).toBe(201);
  const secret = String(body.client_secret);
  await simulator.wallet('Ada').login(secret);
  return intentIdOf(secret);
}

async function logIn(site: Site, browser: Browser): Promise<void> {
  expect((await browser.send('POST', '/session', { id: await confirm(site, browser) })).status).toBe(200);
}

const loggedOut = { user: null };
const ada = ({ simulator }: Site) => ({ user: { id: simulator.wallet('Ada').userId('shop.example') } });

describe('a session that cannot be renewed', () => {
  const shared: Basket = {};
  const plain: RequestHandler = (req, _res, next) => {
    Object.assign(req, { session: shared });
    next();
  };
  const fakeRenewal: RequestHandler = (req, _res, next) => {
    const done = (callback: () => void): void => callback();
    Object.assign(req, { session: Object.assign(shared, { regenerate: done, save: done }) });
    next();
  };

  test('accepts no login, and is logged once with the fix', async () => {
    const site = await start(plain);
    const browser = new Browser(site.origin);
    await browser.send('GET', '/session');
    await browser.send('GET', '/basket');
    expect(site.log.lines).toEqual([
      expect.stringMatching(/^error .*cannot be regenerated.*express-session or cookie-session.*before the session/),
    ]);
    const id = await confirm(site, browser);
    const { status, body } = await browser.send('POST', '/session', { id });
    expect([status, body.code, body.detail]).toEqual([500, 'invalid_configuration', undefined]);
    expect(shared.intentUser).toBeUndefined();
    expect((await browser.send('GET', '/session')).body).toEqual(loggedOut);
  });

  test('rejects the user that it names', async () => {
    const site = await start((req, _res, next) => {
      Object.assign(req, { session: { intentUser: { id: 'me' } } });
      next();
    });
    expect((await new Browser(site.origin).send('GET', '/session')).body).toEqual(loggedOut);
    expect((await new Browser(site.origin).send('DELETE', '/session')).status).toBe(204);
  });

  test('accepts no login when its regenerate() does nothing', async () => {
    const site = await start(fakeRenewal);
    const browser = new Browser(site.origin);
    const { status, body } = await browser.send('POST', '/session', { id: await confirm(site, browser) });
    expect([status, body.code]).toEqual([500, 'invalid_configuration']);
    expect(shared.intentUser).toBeUndefined();
  });
});

describe('a session store that does not respond', () => {
  const timeoutMs = 60_000;
  let expire: () => void;
  beforeEach(() => {
    expire = holdTimeouts(timeoutMs);
  });

  /** One of its methods can hang. The timeout of the router then expires at once. */
  class HangingStore extends session.MemoryStore {
    hangs: 'set' | 'destroy' | undefined;
    late: (() => void)[] = [];

    override set(sid: string, data: session.SessionData, done?: (error?: unknown) => void): void {
      this.#call('set', () => super.set(sid, data, done));
    }
    override destroy(sid: string, done?: (error?: unknown) => void): void {
      this.#call('destroy', () => super.destroy(sid, done));
    }
    #call(name: 'set' | 'destroy', act: () => void): void {
      if (this.hangs !== name) {
        act();
        return;
      }
      this.late.push(act);
      setImmediate(expire);
    }
  }

  const withStore = (store: session.Store, more: Partial<session.SessionOptions> = {}) =>
    start(session({ secret: 'x', resave: false, saveUninitialized: false, store, ...more }), {
      sequencer: { timeoutMs },
    });

  test.each([
    ['destroy', {}],
    ['set', {}],
    ['destroy', { unset: 'destroy' as const }],
    ['set', { saveUninitialized: true }],
  ] as const)('in %s (%j) causes a 503 after the timeout, and the login can be retried', async (step, more) => {
    const store = new HangingStore();
    const site = await withStore(store, more);
    const browser = new Browser(site.origin);
    await browser.send('GET', '/fill');
    const id = await confirm(site, browser);
    store.hangs = step;
    const { status, body, headers } = await browser.send('POST', '/session', { id });
    expect([status, body.code]).toEqual([503, 'session_unavailable']);
    expect(headers.getSetCookie()).toEqual([]);
    expect(site.log.lines.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(/session_unavailable.*did not respond within 60000 ms/),
    ]);
    store.hangs = undefined;
    expect((await browser.send('GET', '/session')).body).toEqual(loggedOut);
    // A late write of the store must not log in the user.
    for (const act of store.late.splice(0)) act();
    expect((await browser.send('GET', '/session')).body).toEqual(loggedOut);
    expect((await browser.send('POST', '/session', { id })).status).toBe(200);
    expect((await browser.send('GET', '/session')).body).toEqual(ada(site));
  });

  test.each(['destroy', 'set'] as const)(
    'in %s at a login leaves an empty session to later handlers of the request',
    async (step) => {
      const store = new HangingStore();
      const appSession = session({ secret: 'x', resave: false, saveUninitialized: false, store });
      const seen: unknown[] = [];
      const site = await startSiteWithSimulator({
        sequencer: { timeoutMs },
        before: (app) => {
          app.use(appSession);
          // A middleware that reads the session at the end of a response, such as a request log.
          app.use((req, res, next) => {
            res.on('finish', () => seen.push(req.session));
            next();
          });
        },
        after: basket,
        onSession: (_user, req) => {
          sessionOf(req).basket = 'of the account';
        },
      });
      const browser = new Browser(site.origin);
      await browser.send('GET', '/fill');
      const id = await confirm(site, browser);
      store.hangs = step;
      expect((await browser.send('POST', '/session', { id })).status).toBe(503);
      expect(JSON.parse(JSON.stringify(seen.at(-1)))).toEqual({ cookie: expect.anything() });
    },
  );

  test('in destroy at a logout causes a 503 after the timeout', async () => {
    const store = new HangingStore();
    const site = await withStore(store);
    const browser = new Browser(site.origin);
    await logIn(site, browser);
    store.hangs = 'destroy';
    const { status, body } = await browser.send('DELETE', '/session');
    expect([status, body.code]).toEqual([503, 'session_unavailable']);
    store.hangs = undefined;
    expect((await browser.send('DELETE', '/session')).status).toBe(204);
    expect((await browser.send('GET', '/session')).body).toEqual(loggedOut);
  });
});
