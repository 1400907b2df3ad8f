import cookieSession from 'cookie-session';
import session from 'express-session';
import type { Transport } from '../../src/sequencer/transport.js';
import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type Site, type SiteOptions, startSite, startSiteWithSequencer } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { inProduction } from './support/in-production.js';
import { begin, someone, whoIs } from './support/people.js';
import { rawRequest, sendRaw } from './support/raw-request.js';

const loginTtlMs = 120_000;
type SiteWithSequencer = Awaited<ReturnType<typeof startSiteWithSequencer>>;

const expressSession = (options: Partial<session.SessionOptions> = {}): SiteOptions => ({
  before: (app) => app.use(session({ secret: 'of the app', resave: false, saveUninitialized: true, ...options })),
});

/** Every place a login can be kept in. */
const stores: [name: string, options: SiteOptions][] = [
  ['the sealed cookie', {}],
  ['express-session', expressSession()],
  ['cookie-session', { before: (app) => app.use(cookieSession({ keys: ['of the app'] })) }],
];

/** A browser that has begun a login, and whose wallet has confirmed it. */
async function confirmedLogin({ origin, sequencer }: SiteWithSequencer, wallet = 'Ada') {
  const browser = new Browser(origin);
  const { secret, id } = await begin(browser);
  await sequencer.wallet(wallet).login(secret);
  return { browser, secret, id };
}

const cookiesOf = ({ cookies }: Browser): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

const complete = (browser: Browser, id: string) => browser.send('POST', '/session', { id });

describe('login CSRF', () => {
  let site: SiteWithSequencer;
  let attackersLogin: string;
  let victim: Browser;

  beforeAll(async () => {
    site = await startSiteWithSequencer();
  });
  beforeEach(async () => {
    // Everything is ready for the victim to be logged in as the attacker, and to leave her card or her secrets there.
    attackersLogin = (await confirmedLogin(site, 'Mia')).id;
    victim = someone(site);
    await begin(victim);
  });

  test("a login that the attacker has begun does not go through in the victim's browser", async () => {
    expect(await complete(victim, attackersLogin)).toMatchObject({ status: 404, body: { code: 'intent_not_found' } });
    expect(await whoIs(victim)).toBeNull();
  });

  const evil = 'https://evil.example';
  test.each<[who: string, type: string, from: Record<string, string>]>([
    ['a form of another site', 'text/plain', { origin: evil }],
    ['a form, by a browser that tells more', 'text/plain', { origin: evil, 'sec-fetch-site': 'cross-site' }],
    ['a form of the form kind', 'application/x-www-form-urlencoded', { origin: 'null' }],
    ['a script of another site', 'application/json', { origin: evil, 'sec-fetch-site': 'cross-site' }],
    ['a script of a sibling domain', 'application/json', { 'sec-fetch-site': 'same-site' }],
    ['a script in a sandboxed frame', 'application/json', { origin: 'null' }],
    ['a site whose name begins like ours', 'application/json', { origin: 'ours.evil.example' }],
  ])("%s cannot complete the victim's own login", async (_who, type, from) => {
    const { secret, id } = await begin(victim);
    await site.sequencer.wallet('Ada').login(secret);
    const cookie = cookiesOf(victim);
    const origin = from.origin?.replace(/^ours/, site.origin);
    const answer = await fetch(`${site.origin}/session`, {
      method: 'POST',
      headers: { ...from, ...(origin && { origin }), 'content-type': type, cookie },
      body: JSON.stringify({ id }),
    });
    expect([403, 415]).toContain(answer.status);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await whoIs(victim)).toBeNull();
    expect((await complete(victim, id)).status).toBe(200);
  });

  test('nor log her out', async () => {
    const { browser, id } = await confirmedLogin(site);
    await complete(browser, id);
    for (const from of ['cross-site', 'same-site', 'none']) {
      const headers = { cookie: cookiesOf(browser), 'sec-fetch-site': from };
      const answer = await fetch(`${site.origin}/session`, { method: 'DELETE', headers });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect(await whoIs(browser)).not.toBeNull();
  });
});

describe('session fixation', () => {
  test.each([
    ['as soon as they come', {}],
    ['only once there is something to keep', { saveUninitialized: false }],
  ])('a session id that was planted is worth nothing after the login, where sessions begin %s', async (_name, more) => {
    const site = await startSiteWithSequencer(expressSession(more));
    const attacker = someone(site);
    const victim = someone(site);
    // A real one where the site gives it, else one that is made up: the victim then brings it from the start.
    await attacker.send('GET', '/session');
    const planted = attacker.cookies.get('connect.sid') ?? 's:made-up';
    attacker.cookies.set('connect.sid', planted);
    victim.cookies.set('connect.sid', planted);
    const { secret, id } = await begin(victim);
    await site.sequencer.wallet('Ada').login(secret);
    expect((await complete(victim, id)).status).toBe(200);
    expect(await whoIs(victim)).toBe(site.sequencer.wallet('Ada').userId('shop.example'));
    expect(victim.cookies.get('connect.sid')).not.toBe(planted);
    expect(await whoIs(attacker)).toBeNull();
  });

  test('nor is the content of a cookie-session that was planted there after the login', async () => {
    const site = await startSiteWithSequencer({
      before: (app) => {
        app.use(cookieSession({ keys: ['of the app'] }));
        app.use((req, _res, next) => {
          if (req.query.cart) Object.assign(req.session, { cart: req.query.cart });
          next();
        });
        app.get('/cart', (req, res) => void res.json(req.session));
      },
    });
    const attacker = someone(site);
    await attacker.send('GET', '/cart?cart=poisoned');
    const victim = clone(site, attacker);
    const { secret, id } = await begin(victim);
    await site.sequencer.wallet('Ada').login(secret);
    await complete(victim, id);
    expect((await attacker.send('GET', '/cart')).body).toEqual({ cart: 'poisoned' });
    const user = { id: site.sequencer.wallet('Ada').userId('shop.example') };
    expect((await victim.send('GET', '/cart')).body).toEqual({ intentUser: user });
    expect(await whoIs(attacker)).toBeNull();
  });

  test('a session that cannot be begun anew keeps no login', async () => {
    const site = await startSiteWithSequencer({
      before: (app) => app.use((req, _res, next) => next(void Object.assign(req, { session: { cart: 'planted' } }))),
    });
    const { browser, id } = await confirmedLogin(site);
    expect((await complete(browser, id)).status).toBe(500);
    expect(await whoIs(browser)).toBeNull();
  });

  // The last three are names that browsers take for harmless, and that a server which trims too much reads as ours.
  test.each([
    'intent',
    '__Secure-intent',
    '__host-intent',
    '\u2000__Host-intent',
    '\u00a0__Host-intent',
    '\x85__Host-intent',
  ])('in production a cookie %j that a sibling domain has planted is not the one that counts', async (name) => {
    const site = await inProduction(() => startSite({ transport: countingTransport() }));
    const headers = ['Host: shop.example', 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json'];
    const planted = `Cookie: ${Buffer.from(name).toString('latin1')}=${'A'.repeat(43)}`;
    const body = '{"mode":"login"}';
    const request = rawRequest('POST', '/intent', [...headers, planted, `Content-Length: ${body.length}`], body);
    const { status, head } = await sendRaw(site.origin, request);
    const own = head.filter((line) => /^set-cookie: __Host-intent=[\w-]{43};/i.test(line));
    expect([status, own.length]).toEqual([201, 1]);
  });

  test('in production both cookies are bound to this very host, to https and to the server alone', async () => {
    const { sequencer } = await startSiteWithSequencer();
    const site = await inProduction(() => startSite({ transport: sequencer.transport }));
    sequencer.setLocalDomain('shop.example', site.origin);
    const lines: string[] = [];
    const victim = someone(site);
    const begun = await victim.send('POST', '/intent', { mode: 'login' });
    lines.push(...begun.headers.getSetCookie());
    const secret = begun.body.client_secret as string;
    await sequencer.wallet('Ada').login(secret);
    const done = await complete(victim, intentIdOf(secret));
    lines.push(...done.headers.getSetCookie());
    expect(lines).toEqual([
      expect.stringMatching(/^__Host-intent=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(
        /^__Host-intent-session=[\w.-]{100,}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    // What was sealed here is nobody under the name that another domain could have written.
    const attacker = someone(site);
    attacker.cookies.set('intent-session', victim.cookies.get('__Host-intent-session') ?? '');
    expect(await whoIs(attacker)).toBeNull();
    expect(await whoIs(victim)).not.toBeNull();
  });
});

describe('stolen intent id', () => {
  test('who has the id, the code, or even a login of their own, cannot complete it, and learns nothing', async () => {
    const site = await startSiteWithSequencer();
    const { browser: victim, id } = await confirmedLogin(site);
    const stranger = someone(site);
    const another = await confirmedLogin(site, 'Mia');
    const neverWas = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const answers = [
      await complete(stranger, id),
      await complete(another.browser, id),
      await complete(stranger, neverWas),
      await complete(another.browser, neverWas),
    ];
    const told = answers.map(
      ({ status, body }) => `${status} ${JSON.stringify({ ...body, instance: 'each its own' })}`,
    );
    expect(new Set(told).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    for (const { headers } of answers) expect(headers.getSetCookie()).toEqual([]);
    expect([await whoIs(stranger), await whoIs(another.browser)]).toEqual([null, null]);
    // And it was not used up by any of them.
    expect((await complete(victim, id)).status).toBe(200);
  });

  test('what the open routes tell of it is its three flags', async () => {
    const site = await startSiteWithSequencer();
    const { secret, id } = await confirmedLogin(site);
    const status = await fetch(`${site.origin}/status/${id}`);
    expect(Object.keys((await status.json()) as object).sort()).toEqual(['code_scanned', 'exists', 'intent_submitted']);
    const controller = new AbortController();
    const events = await fetch(`${site.origin}/intent/${id}/events`, { signal: controller.signal });
    const reader = events.body?.getReader();
    let told = '';
    while (!told.includes('intent_submitted')) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) break;
      told += Buffer.from(value ?? []).toString();
    }
    controller.abort();
    expect(told).toContain('intent_submitted');
    const user = site.sequencer.wallet('Ada').userId('shop.example');
    for (const untold of [secret, user]) expect(told).not.toContain(untold);
  });
});

describe.each(stores)('replay of a completed login, kept in %s', (_name, options) => {
  test('a hundred at the same time make one session', async () => {
    const site = await startSiteWithSequencer(options);
    const { browser, id } = await confirmedLogin(site);
    const answers = await Promise.all(Array.from({ length: 100 }, () => complete(clone(site, browser), id)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...new Array(99).fill(404)]);
  });

  test('afterwards nobody can do it again, the browser itself included', async () => {
    const site = await startSiteWithSequencer(options);
    const { browser, id } = await confirmedLogin(site);
    const thief = clone(site, browser);
    expect((await complete(browser, id)).status).toBe(200);
    const later = await Promise.all(Array.from({ length: 100 }, () => complete(clone(site, thief), id)));
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set([404]));
    expect(await whoIs(thief)).toBeNull();
    expect((await complete(browser, id)).status).toBe(404);
    // Logged out is logged out: what is replayed then does not bring it back either.
    await browser.send('DELETE', '/session');
    expect((await complete(browser, id)).status).toBe(404);
    expect(await whoIs(browser)).toBeNull();
  });
});

/** The same browser once more: what it has in its cookies now. */
function clone({ origin }: Site, browser: Browser): Browser {
  const copy = new Browser(origin);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

describe('QR relay after the TTL', () => {
  test('a code that the victim was sent and confirms too late logs nobody in', async () => {
    let nowMs = 1_800_000_000_000;
    const site = await startSiteWithSequencer({ now: () => nowMs, login: { ttlMs: loginTtlMs } });
    const attacker = someone(site);
    const { secret, id } = await begin(attacker);
    nowMs += loginTtlMs;
    await site.sequencer.wallet('Ada').login(secret);
    expect((await complete(attacker, id)).status).toBe(404);
    expect(await whoIs(attacker)).toBeNull();
  });

  test('nor does asking in between make it last longer', async () => {
    let nowMs = 1_800_000_000_000;
    const site = await startSiteWithSequencer({ now: () => nowMs, login: { ttlMs: loginTtlMs } });
    const attacker = someone(site);
    const { secret, id } = await begin(attacker);
    for (let n = 0; n < 12; n += 1) {
      expect((await complete(attacker, id)).body.code).toBe('login_pending');
      nowMs += loginTtlMs / 12;
    }
    await site.sequencer.wallet('Ada').login(secret);
    expect((await complete(attacker, id)).status).toBe(404);
  });

  test('nor one that was confirmed in time, and whose answer took until after it', async () => {
    let nowMs = 1_800_000_000_000;
    const { sequencer } = await startSiteWithSequencer();
    const transport: Transport = {
      ...sequencer.transport,
      call: async (operation, ...rest) => {
        const answer = await sequencer.transport.call(operation, ...rest);
        if (operation.method === 'getLoginForThirdPartyApp') nowMs += loginTtlMs;
        return answer;
      },
    };
    const site = await startSite({ transport, now: () => nowMs, login: { ttlMs: loginTtlMs } });
    sequencer.setLocalDomain('shop.example', site.origin);
    const attacker = someone(site);
    const { secret, id } = await begin(attacker);
    await sequencer.wallet('Ada').login(secret);
    expect((await complete(attacker, id)).status).toBe(404);
    expect(await whoIs(attacker)).toBeNull();
  });
});
