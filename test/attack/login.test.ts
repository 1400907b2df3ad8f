import cookieSession from 'cookie-session';
import session from 'express-session';
import { refuse } from '../../src/index.js';
import type { Transport } from '../../src/sequencer/transport.js';
import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type Site, type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { createIntent, currentUserId, newBrowser } from './support/browsers.js';
import { inProduction } from './support/in-production.js';
import { rawRequest, sendRaw } from './support/raw-request.js';

const loginTtlMs = 120_000;
type SiteWithSimulator = Awaited<ReturnType<typeof startSiteWithSimulator>>;

const expressSession = (options: Partial<session.SessionOptions> = {}): SiteOptions => ({
  before: (app) => app.use(session({ secret: 'of the app', resave: false, saveUninitialized: true, ...options })),
});

/** All stores of a login. */
const stores: [name: string, options: SiteOptions][] = [
  ['the sealed cookie', {}],
  ['express-session', expressSession()],
  ['cookie-session', { before: (app) => app.use(cookieSession({ keys: ['of the app'] })) }],
];

/** A browser whose login is confirmed by a wallet. */
async function confirmedLogin({ origin, simulator }: SiteWithSimulator, wallet = 'Ada') {
  const browser = new Browser(origin);
  const { secret, id } = await createIntent(browser);
  await simulator.wallet(wallet).login(secret);
  return { browser, secret, id };
}

const cookiesOf = ({ cookies }: Browser): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

const complete = (browser: Browser, id: string) => browser.send('POST', '/session', { id });

describe('login CSRF', () => {
  let site: SiteWithSimulator;
  let attackerLogin: string;
  let victim: Browser;

  beforeAll(async () => {
    site = await startSiteWithSimulator();
  });
  beforeEach(async () => {
    // The attacker's login is confirmed. Completed in the victim's browser, it would log her in as the attacker.
    attackerLogin = (await confirmedLogin(site, 'Mia')).id;
    victim = newBrowser(site);
    await createIntent(victim);
  });

  test('does not complete a login of the attacker in the browser of the victim', async () => {
    expect(await complete(victim, attackerLogin)).toMatchObject({ status: 404, body: { code: 'intent_not_found' } });
    expect(await currentUserId(victim)).toBeNull();
  });

  const evil = 'https://evil.example';
  test.each<[who: string, type: string, from: Record<string, string>]>([
    ['a form of another site', 'text/plain', { origin: evil }],
    ['a form of another site with Sec-Fetch-Site', 'text/plain', { origin: evil, 'sec-fetch-site': 'cross-site' }],
    ['a urlencoded form', 'application/x-www-form-urlencoded', { origin: 'null' }],
    ['a script of another site', 'application/json', { origin: evil, 'sec-fetch-site': 'cross-site' }],
    ['a script of a sibling domain', 'application/json', { 'sec-fetch-site': 'same-site' }],
    ['a script in a sandboxed frame', 'application/json', { origin: 'null' }],
    ['a site whose name starts with ours', 'application/json', { origin: 'ours.evil.example' }],
  ])("does not complete the victim's own login by %s", async (_name, type, from) => {
    const { secret, id } = await createIntent(victim);
    await site.simulator.wallet('Ada').login(secret);
    const cookie = cookiesOf(victim);
    const origin = from.origin?.replace(/^ours/, site.origin);
    const answer = await fetch(`${site.origin}/session`, {
      method: 'POST',
      headers: { ...from, ...(origin && { origin }), 'content-type': type, cookie },
      body: JSON.stringify({ id }),
    });
    expect([403, 415]).toContain(answer.status);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await currentUserId(victim)).toBeNull();
    expect((await complete(victim, id)).status).toBe(200);
  });

  test('does not log the victim out', async () => {
    const { browser, id } = await confirmedLogin(site);
    await complete(browser, id);
    for (const from of ['cross-site', 'same-site', 'none']) {
      const headers = { cookie: cookiesOf(browser), 'sec-fetch-site': from };
      const answer = await fetch(`${site.origin}/session`, { method: 'DELETE', headers });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect(await currentUserId(browser)).not.toBeNull();
  });
});

describe('session fixation', () => {
  test.each([
    ['at once', {}],
    ['only with content', { saveUninitialized: false }],
  ])('with a planted session id gains nothing when sessions are stored %s', async (_name, more) => {
    const site = await startSiteWithSimulator(expressSession(more));
    const attacker = newBrowser(site);
    const victim = newBrowser(site);
    // A real session id if the site sets one, else an invented one.
    await attacker.send('GET', '/session');
    const planted = attacker.cookies.get('connect.sid') ?? 's:made-up';
    attacker.cookies.set('connect.sid', planted);
    victim.cookies.set('connect.sid', planted);
    const { secret, id } = await createIntent(victim);
    await site.simulator.wallet('Ada').login(secret);
    expect((await complete(victim, id)).status).toBe(200);
    expect(await currentUserId(victim)).toBe(site.simulator.wallet('Ada').userId('shop.example'));
    expect(victim.cookies.get('connect.sid')).not.toBe(planted);
    expect(await currentUserId(attacker)).toBeNull();
  });

  test('with a planted cookie-session gains nothing, and its content is removed at the login', async () => {
    const site = await startSiteWithSimulator({
      before: (app) => {
        app.use(cookieSession({ keys: ['of the app'] }));
        app.use((req, _res, next) => {
          if (req.query.cart) Object.assign(req.session, { cart: req.query.cart });
          next();
        });
        app.get('/cart', (req, res) => void res.json(req.session));
      },
    });
    const attacker = newBrowser(site);
    await attacker.send('GET', '/cart?cart=poisoned');
    const victim = clone(site, attacker);
    const { secret, id } = await createIntent(victim);
    await site.simulator.wallet('Ada').login(secret);
    await complete(victim, id);
    expect((await attacker.send('GET', '/cart')).body).toEqual({ cart: 'poisoned' });
    const user = { id: site.simulator.wallet('Ada').userId('shop.example') };
    expect((await victim.send('GET', '/cart')).body).toEqual({ intentUser: user });
    expect(await currentUserId(attacker)).toBeNull();
  });

  test.each([
    [
      'express-session',
      () => session({ secret: 'of the app', resave: false, saveUninitialized: false }),
      'connect.sid',
    ],
    ['cookie-session', () => cookieSession({ name: 'app', keys: ['of the app'] }), 'app'],
  ])(
    'with kept data in %s gains nothing: only the named data is kept, under a new id',
    async (_kind, middleware, cookie) => {
      let isRefused = true;
      const site = await startSiteWithSimulator({
        before: (app) => {
          app.use(middleware());
          app.use((req, _res, next) => {
            const { plant } = req.query;
            if (plant) Object.assign(req.session ?? {}, JSON.parse(String(plant)));
            next();
          });
          app.get('/data', (req, res) => {
            const { cookie: _cookie, ...data } = (req.session ?? {}) as unknown as Record<string, unknown>;
            res.json(data);
          });
        },
        login: { keepSession: ['basket', 'constructor', 'toString', 'save'] },
        onSession: () => {
          if (isRefused) refuse('Closed.', 403);
        },
      });
      const attacker = newBrowser(site);
      const plant = '{"basket":["knife"],"isAdmin":true,"passport":{"user":"mia"}}';
      await attacker.send('GET', `/data?plant=${encodeURIComponent(plant)}`);
      const planted = attacker.cookies.get(cookie);
      expect(planted).toBeDefined();
      const victim = clone(site, attacker);
      const { secret, id } = await createIntent(victim);
      await site.simulator.wallet('Ada').login(secret);
      expect((await complete(victim, id)).status).toBe(403);
      // A failed login gives nothing either.
      expect([await currentUserId(attacker), await currentUserId(victim)]).toEqual([null, null]);
      isRefused = false;
      expect((await complete(victim, id)).status).toBe(200);
      const user = { id: site.simulator.wallet('Ada').userId('shop.example') };
      expect((await victim.send('GET', '/data')).body).toEqual({ basket: ['knife'], intentUser: user });
      expect(victim.cookies.get(cookie)).not.toBe(planted);
      expect(await currentUserId(attacker)).toBeNull();
      expect((await attacker.send('GET', '/data')).body.intentUser).toBeUndefined();
    },
  );

  test('fails with a session that cannot be regenerated', async () => {
    const site = await startSiteWithSimulator({
      before: (app) => app.use((req, _res, next) => next(void Object.assign(req, { session: { cart: 'planted' } }))),
    });
    const { browser, id } = await confirmedLogin(site);
    expect((await complete(browser, id)).status).toBe(500);
    expect(await currentUserId(browser)).toBeNull();
  });

  // Browsers accept the last three names. A server that trims white space would read them as ours.
  test.each([
    'intent',
    '__Secure-intent',
    '__host-intent',
    '\u2000__Host-intent',
    '\u00a0__Host-intent',
    '\x85__Host-intent',
  ])('in production fails with a planted cookie named %j', async (name) => {
    const site = await inProduction(() => startSite({ sequencer: { transport: countingTransport() } }));
    const headers = ['Host: shop.example', 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json'];
    const planted = `Cookie: ${Buffer.from(name).toString('latin1')}=${'A'.repeat(43)}`;
    const body = '{"mode":"login"}';
    const request = rawRequest('POST', '/intent', [...headers, planted, `Content-Length: ${body.length}`], body);
    const { status, head } = await sendRaw(site.origin, request);
    const own = head.filter((line) => /^set-cookie: __Host-intent=[\w-]{43};/i.test(line));
    expect([status, own.length]).toEqual([201, 1]);
  });

  test('in production is prevented by __Host-, Secure and HttpOnly on both cookies', async () => {
    const { simulator } = await startSiteWithSimulator();
    const site = await inProduction(() => startSite({ sequencer: { transport: simulator.transport } }));
    simulator.setLocalDomain('shop.example', site.origin);
    const lines: string[] = [];
    const victim = newBrowser(site);
    const created = await victim.send('POST', '/intent', { mode: 'login' });
    lines.push(...created.headers.getSetCookie());
    const secret = created.body.client_secret as string;
    await simulator.wallet('Ada').login(secret);
    const completed = await complete(victim, intentIdOf(secret));
    lines.push(...completed.headers.getSetCookie());
    expect(lines).toEqual([
      expect.stringMatching(/^__Host-intent=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(
        /^__Host-intent-session=[\w.-]{100,}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    // The sealed session is invalid under a name that a sibling domain can set.
    const attacker = newBrowser(site);
    attacker.cookies.set('intent-session', victim.cookies.get('__Host-intent-session') ?? '');
    expect(await currentUserId(attacker)).toBeNull();
    expect(await currentUserId(victim)).not.toBeNull();
  });
});

describe('stolen intent id', () => {
  test('completes nothing and reveals nothing, even with the code or with another login', async () => {
    const site = await startSiteWithSimulator();
    const { browser: victim, id } = await confirmedLogin(site);
    const stranger = newBrowser(site);
    const another = await confirmedLogin(site, 'Mia');
    const unknownId = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const answers = [
      await complete(stranger, id),
      await complete(another.browser, id),
      await complete(stranger, unknownId),
      await complete(another.browser, unknownId),
    ];
    const received = answers.map(
      ({ status, body }) => `${status} ${JSON.stringify({ ...body, instance: 'each its own' })}`,
    );
    expect(new Set(received).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    for (const { headers } of answers) expect(headers.getSetCookie()).toEqual([]);
    expect([await currentUserId(stranger), await currentUserId(another.browser)]).toEqual([null, null]);
    // None of these attempts has used up the login.
    expect((await complete(victim, id)).status).toBe(200);
  });

  test('reveals only the three flags of the open routes', async () => {
    const site = await startSiteWithSimulator();
    const { secret, id } = await confirmedLogin(site);
    const status = await fetch(`${site.origin}/status/${id}`);
    expect(Object.keys((await status.json()) as object).sort()).toEqual(['code_scanned', 'exists', 'intent_submitted']);
    const controller = new AbortController();
    const events = await fetch(`${site.origin}/intent/${id}/events`, { signal: controller.signal });
    const reader = events.body?.getReader();
    let received = '';
    while (!received.includes('intent_submitted')) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) break;
      received += Buffer.from(value ?? []).toString();
    }
    controller.abort();
    expect(received).toContain('intent_submitted');
    const user = site.simulator.wallet('Ada').userId('shop.example');
    for (const hidden of [secret, user]) expect(received).not.toContain(hidden);
  });
});

describe.each(stores)('replay of a completed login, kept in %s', (_name, options) => {
  /** A busy machine may need longer for a hundred calls than a call waits by default. */
  const ample = { ...options, sequencer: { timeoutMs: 1_600_000 } };
  test('is rejected for all but one of a hundred concurrent requests', async () => {
    const site = await startSiteWithSimulator(ample);
    const { browser, id } = await confirmedLogin(site);
    const answers = await Promise.all(Array.from({ length: 100 }, () => complete(clone(site, browser), id)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...new Array(99).fill(404)]);
  });

  test('is rejected later, also from the same browser', async () => {
    const site = await startSiteWithSimulator(ample);
    const { browser, id } = await confirmedLogin(site);
    const thief = clone(site, browser);
    expect((await complete(browser, id)).status).toBe(200);
    const later = await Promise.all(Array.from({ length: 100 }, () => complete(clone(site, thief), id)));
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set([404]));
    expect(await currentUserId(thief)).toBeNull();
    expect((await complete(browser, id)).status).toBe(404);
    // A replay after the logout does not log in either.
    await browser.send('DELETE', '/session');
    expect((await complete(browser, id)).status).toBe(404);
    expect(await currentUserId(browser)).toBeNull();
  });
});

/** A copy of a browser with its current cookies. */
function clone({ origin }: Site, browser: Browser): Browser {
  const copy = new Browser(origin);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

describe('QR relay after the TTL', () => {
  test('is not extended by requests in between', async () => {
    let nowMs = 1_800_000_000_000;
    const site = await startSiteWithSimulator({ testClock: () => nowMs, login: { ttlMs: loginTtlMs } });
    const attacker = newBrowser(site);
    const { secret, id } = await createIntent(attacker);
    for (let n = 0; n < 12; n += 1) {
      expect((await complete(attacker, id)).body.code).toBe('login_pending');
      nowMs += loginTtlMs / 12;
    }
    await site.simulator.wallet('Ada').login(secret);
    expect((await complete(attacker, id)).status).toBe(404);
  });

  test('does not log in the attacker when the response arrives too late', async () => {
    let nowMs = 1_800_000_000_000;
    const { simulator } = await startSiteWithSimulator();
    const transport: Transport = {
      ...simulator.transport,
      call: async (operation, ...rest) => {
        const answer = await simulator.transport.call(operation, ...rest);
        if (operation.method === 'getLoginForThirdPartyApp') nowMs += loginTtlMs;
        return answer;
      },
    };
    const site = await startSite({ sequencer: { transport }, testClock: () => nowMs, login: { ttlMs: loginTtlMs } });
    simulator.setLocalDomain('shop.example', site.origin);
    const attacker = newBrowser(site);
    const { secret, id } = await createIntent(attacker);
    await simulator.wallet('Ada').login(secret);
    expect((await complete(attacker, id)).status).toBe(404);
    expect(await currentUserId(attacker)).toBeNull();
  });
});
