import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type SiteOptions, startSiteWithSequencer } from '../support/sites/site.js';

async function begun(options: SiteOptions = {}) {
  const greeted: unknown[] = [];
  const onLogin = (user: unknown): void => void greeted.push(user);
  const site = await startSiteWithSequencer({ login: { confirm: true }, onLogin, ...options });
  const browser = new Browser(site.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'login' });
  const secret = String(body.client_secret);
  const id = intentIdOf(secret);
  const ask = (more: object = {}, from = browser) => from.send('POST', '/session', { id, ...more });
  return { ...site, browser, greeted, secret, id, ask };
}

type Begun = Awaited<ReturnType<typeof begun>>;
const ada = ({ sequencer }: Begun) => ({ id: sequencer.wallet('Ada').userId('shop.example') });

test('who would be logged in is told first, and nothing happens until that is confirmed', async () => {
  const site = await begun();
  expect((await site.ask()).body.code).toBe('login_pending');
  expect((await site.ask({ confirm: true })).body.code).toBe('login_pending');
  await site.sequencer.wallet('Ada').login(site.secret);
  // As often as somebody asks.
  for (let n = 0; n < 3; n += 1) {
    const asked = await site.ask();
    expect([asked.status, asked.body]).toEqual([200, { confirm: { user: ada(site) } }]);
    expect(asked.headers.getSetCookie()).toEqual([]);
    expect(asked.headers.get('cache-control')).toBe('no-store');
  }
  expect((await site.browser.send('GET', '/session')).body).toEqual({ user: null });
  expect(site.greeted).toEqual([]);

  const done = await site.ask({ confirm: true });
  expect([done.status, done.body]).toEqual([200, { user: ada(site) }]);
  expect(site.greeted).toEqual([ada(site)]);
  expect((await site.browser.send('GET', '/session')).body).toEqual({ user: ada(site) });
  for (const more of [{}, { confirm: true }]) expect((await site.ask(more)).status).toBe(404);
});

test('nobody but the browser that began it is told, or can confirm', async () => {
  const site = await begun();
  await site.sequencer.wallet('Ada').login(site.secret);
  const stranger = new Browser(site.origin);
  await stranger.send('POST', '/intent', { mode: 'login' });
  for (const more of [{}, { confirm: true }]) {
    expect((await site.ask(more, stranger)).body).toMatchObject({ code: 'intent_not_found' });
  }
  expect((await site.ask({ confirm: true })).status).toBe(200);
});

test('what was asked in time and is confirmed too late is over', async () => {
  let nowMs = 1_800_000_000_000;
  const site = await begun({ now: () => nowMs });
  await site.sequencer.wallet('Ada').login(site.secret);
  expect((await site.ask()).status).toBe(200);
  nowMs += 120_000;
  expect((await site.ask({ confirm: true })).status).toBe(404);
});

test('a payment that logs its payer in asks as well', async () => {
  const site = await begun({ payment: () => ({ amount: 2, currency: 'usd', login: true }) });
  const { body } = await site.browser.send('POST', '/intent', { mode: 'payment' });
  const secret = String(body.client_secret);
  await site.sequencer.wallet('Ada').pay(secret);
  const id = intentIdOf(secret);
  expect((await site.ask({ id })).body).toEqual({ confirm: { user: ada(site) } });
  expect((await site.ask({ id, confirm: true })).body).toEqual({ user: ada(site) });
});

test.each([[false], ['true'], [1], [null], [{}], [[true]]])('confirm: %j is no confirmation', async (confirm) => {
  const site = await begun();
  await site.sequencer.wallet('Ada').login(site.secret);
  const answer = await site.ask({ confirm });
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  expect((await site.browser.send('GET', '/session')).body).toEqual({ user: null });
});

test('another field is still none', async () => {
  const site = await begun();
  expect((await site.ask({ user: 'me' })).body).toMatchObject({ code: 'unknown_field' });
});

test('without the option nobody is asked, and nothing can be confirmed', async () => {
  const site = await begun({ login: { confirm: false } });
  await site.sequencer.wallet('Ada').login(site.secret);
  expect((await site.ask({ confirm: true })).body).toMatchObject({ code: 'unknown_field' });
  expect((await site.ask()).body).toEqual({ user: ada(site) });
});
