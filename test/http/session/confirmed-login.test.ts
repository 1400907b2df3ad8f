import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type SiteOptions, startSiteWithSimulator } from '../../support/sites/site.js';

async function startLogin(options: SiteOptions = {}) {
  const greeted: unknown[] = [];
  const onLogin = (user: unknown): void => void greeted.push(user);
  const site = await startSiteWithSimulator({ login: { confirm: true }, onLogin }, options);
  const browser = new Browser(site.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'login' });
  const secret = String(body.client_secret);
  const id = intentIdOf(secret);
  const complete = (more: object = {}, from = browser) => from.send('POST', '/session', { id, ...more });
  return { ...site, browser, greeted, secret, id, complete };
}

type LoginSite = Awaited<ReturnType<typeof startLogin>>;
const ada = ({ simulator }: LoginSite) => ({ id: simulator.wallet('Ada').userId('shop.example') });

test('POST /session with confirm: true in the options answers with the user first, and logs in only after the confirmation', async () => {
  const site = await startLogin();
  expect((await site.complete()).body.code).toBe('login_pending');
  expect((await site.complete({ confirm: true })).body.code).toBe('login_pending');
  await site.simulator.wallet('Ada').login(site.secret);
  // The answer stays the same until the confirmation.
  for (let n = 0; n < 3; n += 1) {
    const answer = await site.complete();
    expect([answer.status, answer.body]).toEqual([200, { confirm: { user: ada(site) } }]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  expect((await site.browser.send('GET', '/session')).body).toEqual({ user: null });
  expect(site.greeted).toEqual([]);

  const done = await site.complete({ confirm: true });
  expect([done.status, done.body]).toEqual([200, { user: ada(site) }]);
  expect(site.greeted).toEqual([ada(site)]);
  expect((await site.browser.send('GET', '/session')).body).toEqual({ user: ada(site) });
  for (const more of [{}, { confirm: true }]) expect((await site.complete(more)).status).toBe(404);
});

test('POST /session answers 404 to another browser, with and without the confirmation', async () => {
  const site = await startLogin();
  await site.simulator.wallet('Ada').login(site.secret);
  const stranger = new Browser(site.origin);
  await stranger.send('POST', '/intent', { mode: 'login' });
  for (const more of [{}, { confirm: true }]) {
    expect((await site.complete(more, stranger)).body).toMatchObject({ code: 'intent_not_found' });
  }
  expect((await site.complete({ confirm: true })).status).toBe(200);
});

test('POST /session answers 404 when the confirmation arrives after loginTtlMs', async () => {
  let nowMs = 1_800_000_000_000;
  const site = await startLogin({ testClock: () => nowMs });
  await site.simulator.wallet('Ada').login(site.secret);
  expect((await site.complete()).status).toBe(200);
  nowMs += 120_000;
  expect((await site.complete({ confirm: true })).status).toBe(404);
});

test('POST /session asks for a confirmation for a payment with login: true as well', async () => {
  const site = await startLogin({ payment: () => ({ amount: 2, currency: 'usd', login: true }) });
  const { body } = await site.browser.send('POST', '/intent', { mode: 'payment' });
  const secret = String(body.client_secret);
  await site.simulator.wallet('Ada').pay(secret);
  const id = intentIdOf(secret);
  expect((await site.complete({ id })).body).toEqual({ confirm: { user: ada(site) } });
  expect((await site.complete({ id, confirm: true })).body).toEqual({ user: ada(site) });
});

test.each([[false], ['true'], [1], [null], [{}], [[true]]])(
  'POST /session answers 400 for confirm: %j',
  async (confirm) => {
    const site = await startLogin();
    await site.simulator.wallet('Ada').login(site.secret);
    const answer = await site.complete({ confirm });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect((await site.browser.send('GET', '/session')).body).toEqual({ user: null });
  },
);

test('POST /session without the option logs in at once, and rejects the field confirm', async () => {
  const site = await startLogin({ login: { confirm: false } });
  await site.simulator.wallet('Ada').login(site.secret);
  expect((await site.complete({ confirm: true })).body).toMatchObject({ code: 'unknown_field' });
  expect((await site.complete()).body).toEqual({ user: ada(site) });
});
