import { jest } from '@jest/globals';
import cookieSession from 'cookie-session';
import type { ErrorRequestHandler, Express } from 'express';
import session from 'express-session';
import { currentUser, requireLogin } from '../../../src/http/session/require-login.js';
import { createSigner } from '../../../src/keys/verifier-key.js';
import { Browser } from '../../support/browser/browser.js';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type SiteOptions, startSiteWithSimulator, verifierSecret } from '../../support/sites/site.js';

const account = (app: Express): void => {
  app.get('/account', requireLogin(), (req, res) => void res.send(`Hello ${req.intent.user.id}`));
  app.get('/page', requireLogin({ loginUrl: '/login?next=1' }), (_req, res) => void res.send('page'));
  app.get('/maybe', async (req, res) => void res.json({ user: (await currentUser(req)) ?? null }));
};

const expressSession = (app: Express): void => {
  app.use(session({ secret: 'test', resave: false, saveUninitialized: true }));
};

async function begin(browser: Browser, body: object = { mode: 'login' }): Promise<{ secret: string; id: string }> {
  const created = await browser.send('POST', '/intent', body);
  expect(created.status).toBe(201);
  const secret = created.body.client_secret as string;
  return { secret, id: intentIdOf(secret) };
}

async function logIn(site: Awaited<ReturnType<typeof startSiteWithSimulator>>, browser: Browser, wallet = 'Ada') {
  const { secret, id } = await begin(browser);
  await site.simulator.wallet(wallet).login(secret);
  const completed = await browser.send('POST', '/session', { id });
  expect(completed.status).toBe(200);
  return { id, user: completed.body.user as { id: string } };
}

describe.each([
  ['a sealed cookie', {}],
  ['express-session', { before: expressSession }],
  ['cookie-session', { before: (app) => app.use(cookieSession({ keys: ['test'] })) }],
] as [string, SiteOptions][])('a login kept in %s', (_name, options) => {
  const start = (more: SiteOptions = {}) => startSiteWithSimulator({ ...options, ...more, after: account });
  let site: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    site = await start();
  });

  test('starts, is confirmed, completed and used, and ends at the logout (interface 1.6, 4.7, 5.3)', async () => {
    const browser = new Browser(site.origin);
    expect((await browser.send('GET', '/session')).body).toEqual({ user: null });
    expect((await browser.send('GET', '/account')).status).toBe(401);

    const { secret, id } = await begin(browser);
    const early = await browser.send('POST', '/session', { id });
    expect([early.status, early.body.code]).toEqual([409, 'login_pending']);

    await site.simulator.wallet('Ada').login(secret);
    const user = { id: site.simulator.wallet('Ada').userId('shop.example') };
    expect(await browser.send('POST', '/session', { id })).toMatchObject({ status: 200, body: { user } });
    expect((await browser.send('GET', '/session')).body).toEqual({ user });
    expect((await browser.send('GET', '/account')).body.text).toBe(`Hello ${user.id}`);
    expect((await browser.send('GET', '/maybe')).body).toEqual({ user });

    expect((await browser.send('DELETE', '/session')).status).toBe(204);
    expect((await browser.send('GET', '/session')).body).toEqual({ user: null });
    expect((await browser.send('GET', '/account')).status).toBe(401);
    expect((await browser.send('DELETE', '/session')).status).toBe(204);
  });

  test('a completion whose response was lost is repeated for the same browser and Idempotency-Key', async () => {
    const browser = new Browser(site.origin);
    const { secret, id } = await begin(browser);
    await site.simulator.wallet('Ada').login(secret);
    const user = { id: site.simulator.wallet('Ada').userId('shop.example') };
    // The response with the cookie of the session does not arrive.
    const again = new Browser(site.origin, browser.cookies);
    const lost = await browser.send('POST', '/session', { id }, { 'idempotency-key': 'attempt-1' });
    expect(lost).toMatchObject({ status: 200, body: { user } });
    const complete = (headers = {}) => again.send('POST', '/session', { id }, headers);
    expect(await complete()).toMatchObject({ status: 404 });
    expect(await complete({ 'idempotency-key': 'attempt-2' })).toMatchObject({ status: 404 });
    expect(await complete({ 'idempotency-key': 'a b' })).toMatchObject({ status: 400 });
    expect((await again.send('GET', '/session')).body).toEqual({ user: null });
    expect(await complete({ 'idempotency-key': 'attempt-1' })).toMatchObject({ status: 200, body: { user } });
    expect((await again.send('GET', '/session')).body).toEqual({ user });
    // This browser has received its session.
    expect(await complete({ 'idempotency-key': 'attempt-2' })).toMatchObject({ status: 200, body: { user } });
    const stranger = new Browser(site.origin);
    await begin(stranger);
    const stolen = await stranger.send('POST', '/session', { id }, { 'idempotency-key': 'attempt-1' });
    expect(stolen.status).toBe(404);
  });

  test('a completion that is repeated while the first request runs waits for it, and calls onLogin once', async () => {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const calls: string[] = [];
    const slow = await start({
      onLogin: () => void calls.push('onLogin'),
      onSession: async () => {
        calls.push('onSession');
        if (calls.length === 2) await gate;
      },
    });
    const browser = new Browser(slow.origin);
    const { secret, id } = await begin(browser);
    await slow.simulator.wallet('Ada').login(secret);
    const again = new Browser(slow.origin, browser.cookies);
    const complete = (by: Browser) => by.send('POST', '/session', { id }, { 'idempotency-key': 'attempt' });
    const first = complete(browser);
    await eventually('the first request runs', () => expect(calls).toHaveLength(2));
    const second = complete(again);
    // A request of another attempt is answered after the second one has arrived.
    expect((await again.send('POST', '/session', { id }, { 'idempotency-key': 'another' })).status).toBe(404);
    finish();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(calls).toEqual(['onLogin', 'onSession', 'onSession']);
    expect((await again.send('GET', '/session')).body.user).not.toBeNull();
  });

  test.each([
    ['ahead', 86_400_000],
    ['back', -86_400_000],
  ])('remains open when the system clock is set %s', async (_direction, offsetMs) => {
    const readClock = Date.now;
    let setMs = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => readClock() + setMs);
    const site = await start();
    const browser = new Browser(site.origin);
    const { secret, id } = await begin(browser);
    setMs = offsetMs;
    await site.simulator.wallet().login(secret);
    expect((await browser.send('POST', '/session', { id })).status).toBe(200);
  });

  test('answers 404 for a payment without login: true', async () => {
    const browser = new Browser(site.origin);
    const { secret, id } = await begin(browser, { mode: 'payment' });
    await site.simulator.wallet().pay(secret);
    expect((await browser.send('POST', '/session', { id })).status).toBe(404);
  });
});

describe('express-session', () => {
  test('gets a new session id at the login and at the logout', async () => {
    const site = await startSiteWithSimulator({ before: expressSession, after: account });
    const browser = new Browser(site.origin);
    await browser.send('GET', '/session');
    const before = browser.cookies.get('connect.sid');
    const { user } = await logIn(site, browser);
    const during = browser.cookies.get('connect.sid');
    expect(during).not.toBe(before);
    const thief = new Browser(site.origin);
    thief.cookies.set('connect.sid', before as string);
    expect((await thief.send('GET', '/session')).body).toEqual({ user: null });
    expect((await browser.send('GET', '/session')).body).toEqual({ user });
    await browser.send('DELETE', '/session');
    thief.cookies.set('connect.sid', during as string);
    expect((await thief.send('GET', '/session')).body).toEqual({ user: null });
  });
});

describe('express-session at another position', () => {
  test('behind the router leaves the login in the sealed cookie', async () => {
    const site = await startSiteWithSimulator({
      after: (app) => {
        expressSession(app);
        account(app);
      },
    });
    const browser = new Browser(site.origin);
    const { user } = await logIn(site, browser);
    expect((await browser.send('GET', '/session')).body).toEqual({ user });
    expect((await browser.send('GET', '/account')).status).toBe(200);
    await browser.send('DELETE', '/session');
    expect((await browser.send('GET', '/account')).status).toBe(401);
  });
});

describe('the sealed cookie', () => {
  test('of another domain is rejected, even when both sites share INTENT_SECRET', async () => {
    const secret = 'x'.repeat(32);
    const staging = await startSiteWithSimulator({ secret, login: { domain: 'staging.example' }, after: account });
    const browser = new Browser(staging.origin);
    await logIn(staging, browser);
    const site = await startSiteWithSimulator({ secret, after: account });
    const there = new Browser(site.origin);
    there.cookies.set('intent-session', browser.cookies.get('intent-session') as string);
    expect((await there.send('GET', '/account')).status).toBe(401);
  });

  test('is HttpOnly and encrypted', async () => {
    const site = await startSiteWithSimulator({ after: account });
    const browser = new Browser(site.origin);
    const { secret, id } = await begin(browser);
    await site.simulator.wallet().login(secret);
    const { headers, body } = await browser.send('POST', '/session', { id });
    const [line = ''] = headers.getSetCookie();
    expect(line).toMatch(/^intent-session=[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(Buffer.from(line, 'base64url').toString('latin1')).not.toContain((body.user as { id: string }).id);
  });

  test.each([
    [
      'one flipped letter',
      (text: string) => text.replace(/(.{30})$/, (end) => (end.startsWith('A') ? 'B' : 'A') + end.slice(1)),
    ],
    ['a cut end', (text: string) => text.slice(0, -5)],
    ['an unsealed token', () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.eyJzdWIiOiJtZSJ9.`],
  ])('with %s is rejected', async (_name, corrupt) => {
    const site = await startSiteWithSimulator({ after: account });
    const browser = new Browser(site.origin);
    await logIn(site, browser);
    browser.cookies.set('intent-session', corrupt(browser.cookies.get('intent-session') as string));
    expect((await browser.send('GET', '/session')).body).toEqual({ user: null });
    expect((await browser.send('GET', '/account')).status).toBe(401);
  });

  test('expires after sessionTtlMs', async () => {
    let now = 1_800_000_000_000;
    const site = await startSiteWithSimulator({
      after: account,
      testClock: () => now,
      login: { sessionTtlMs: 3_600_000 },
    });
    const browser = new Browser(site.origin);
    await logIn(site, browser);
    now += 3_599_000;
    expect((await browser.send('GET', '/account')).status).toBe(200);
    now += 2_000;
    expect((await browser.send('GET', '/account')).status).toBe(401);
  });

  test('survives a rotation of INTENT_SECRET, and is rejected after its secret is removed', async () => {
    const [old, fresh, other] = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
    const first = await startSiteWithSimulator({ after: account, secret: `${old}` });
    const browser = new Browser(first.origin);
    await logIn(first, browser);
    const status = async (secret: string): Promise<number> => {
      const site = await startSiteWithSimulator({ after: account, secret });
      const later = new Browser(site.origin);
      later.cookies.set('intent-session', browser.cookies.get('intent-session') as string);
      return (await later.send('GET', '/account')).status;
    };
    expect([await status(`${fresh},${old}`), await status(`${fresh},${other}`)]).toEqual([200, 401]);
  });
});

describe('requireLogin', () => {
  test('answers 401 to API clients and redirects page views to the login page', async () => {
    const site = await startSiteWithSimulator({ after: account });
    const program = await fetch(`${site.origin}/page`, { headers: { accept: 'application/json' }, redirect: 'manual' });
    expect([program.status, await program.json()]).toEqual([401, expect.objectContaining({ code: 'login_required' })]);
    const page = await fetch(`${site.origin}/page`, { headers: { accept: 'text/html,*/*' }, redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/login?next=1']);
  });

  test('without it, req.intent.user throws guard_missing with the fix, even for a logged-in visitor', async () => {
    const errors: unknown[] = [];
    const after = (app: Express): void => {
      app.get('/open', (req, res) => void res.send(`Hello ${req.intent.user.id}`));
      app.use(((error, _req, res, _next) => {
        errors.push(error);
        res.status(error.status).end();
      }) satisfies ErrorRequestHandler);
    };
    const site = await startSiteWithSimulator({ after });
    const browser = new Browser(site.origin);
    expect((await browser.send('GET', '/open')).status).toBe(500);
    await logIn(site, browser);
    expect((await browser.send('GET', '/open')).status).toBe(500);
    expect(errors).toEqual([
      expect.objectContaining({ code: 'guard_missing', message: expect.stringContaining('requireLogin()') }),
      expect.objectContaining({ code: 'guard_missing' }),
    ]);
  });

  test('without a router in front of it passes router_missing with the fix', async () => {
    const errors: unknown[] = [];
    const next = (error?: unknown): void => void errors.push(error);
    await requireLogin()({} as never, {} as never, next);
    expect(errors).toEqual([
      expect.objectContaining({ code: 'router_missing', message: expect.stringContaining('app.use') }),
    ]);
  });

  test('answers 401 when logins are disabled', async () => {
    const site = await startSiteWithSimulator({ login: false, after: account });
    const browser = new Browser(site.origin);
    expect((await browser.send('GET', '/account')).status).toBe(401);
  });
});

test('a signer instead of a secret completes a login', async () => {
  const local = createSigner(verifierSecret);
  const signedLengths: number[] = [];
  const signer = {
    publicKey: local.publicKey,
    sign: async (bytes: Uint8Array) => {
      signedLengths.push(bytes.length);
      return local.sign(bytes);
    },
  };
  const site = await startSiteWithSimulator({
    login: { signer, verifierSecret: '' },
    secret: 's'.repeat(32),
    after: account,
  });
  await logIn(site, new Browser(site.origin));
  expect(signedLengths.length).toBeGreaterThanOrEqual(2);
});
