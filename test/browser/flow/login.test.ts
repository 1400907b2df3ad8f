import type { Page, Request, Route } from 'playwright-core';
import { requireLogin } from '../../../src/http/session/require-login.js';
import { eventually } from '../../support/eventually.js';
import { domain } from '../../support/sites/site.js';
import { begin, buttonScript, clickAndScan, closed, event, idOf, part, seen, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    after: (app) => {
      app.get('/account', requireLogin(), (_req, res) => void res.send('<h1>Account</h1>'));
    },
  });
});

/** The answer to the page's own request. */
const session = (page: Page): Promise<unknown> => page.evaluate(async () => (await fetch('/session')).json());

const login = { mode: 'login', order: undefined };

test('the session exists when success is emitted', async () => {
  const script = buttonScript(
    login,
    `button.on('success', async () => { note('session', await (await fetch('/session')).json()); });`,
  );
  const { page } = await open(site.page({ script }));
  const code = await clickAndScan(page);
  await site.simulator.wallet('Ada').login(code);
  const user = { id: site.simulator.wallet('Ada').userId(domain) };
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  expect(await event(page, 'session')).toEqual({ user });
  expect(await session(page)).toEqual({ user });
  await state(page, 'done');
});

test('the page of requireLogin() logs in and opens the guarded page, without a CSP violation', async () => {
  const visit = await open(`${site.origin}/account?tab=1`);
  visit.forgive(/status of 401/);
  expect(await visit.page.locator('h1').textContent()).toBe('Please log in');
  await site.simulator.wallet('Ada').login(await begin(visit.page));
  await visit.page.locator('h1', { hasText: 'Account' }).waitFor();
  expect(visit.page.url()).toBe(`${site.origin}/account?tab=1`);
  expect(await session(visit.page)).toEqual({ user: { id: site.simulator.wallet('Ada').userId(domain) } });
});

test('a canceled login leaves the session empty, also if the wallet confirms later', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await begin(page);
  await part(page, 'close').click();
  await event(page, 'cancel');
  await site.simulator.wallet('Ada').login(code);
  await page.reload();
  expect(await session(page)).toEqual({ user: null });
});

test('the success page in another browser cannot complete the login', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await begin(page);
  const id = idOf(code);
  await site.simulator.wallet('Ada').login(code);

  const elsewhere = await open(`${site.origin}/thanks?id=${id}`);
  elsewhere.forgive(/status of 404/);
  expect(await elsewhere.page.locator('h1').textContent()).toBe('Thank you');
  const answer = await elsewhere.page.evaluate(async (intent) => {
    const { status } = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: intent }),
    });
    return status;
  }, id);
  expect(answer).toBe(404);
  expect(await session(elsewhere.page)).toEqual({ user: null });

  await event(page, 'success');
  expect(await session(page)).toEqual({ user: { id: site.simulator.wallet('Ada').userId(domain) } });
});

const userOf = (name: string): { id: string } => ({ id: site.simulator.wallet(name).userId(domain) });

/** Answers the first requests `POST /session`. The site answers later ones and every `GET /session`. */
async function answerLogin(page: Page, ...answers: ((route: Route) => Promise<void>)[]): Promise<string[]> {
  const methods: string[] = [];
  await page.route('**/session', async (route) => {
    methods.push(route.request().method());
    const answer = route.request().method() === 'POST' ? answers.shift() : undefined;
    await (answer ? answer(route) : route.continue());
  });
  return methods;
}

const noAnswer = (route: Route): Promise<void> => route.abort();
const busy = (route: Route): Promise<void> => route.fulfill({ status: 503, json: { code: 'too_busy' } });
const over = (route: Route): Promise<void> => route.fulfill({ status: 404, json: { code: 'intent_not_found' } });

describe('an answer to POST /session', () => {
  test.each([
    ['is lost', noAnswer],
    ['comes from a proxy', (route: Route) => route.fulfill({ status: 504, body: '<h1>Gateway time-out</h1>' })],
  ])('that %s after it took effect still ends in success', async (_name, answer) => {
    const visit = await open(site.page({ script: buttonScript(login) }));
    visit.forgive(/ERR_FAILED/, /status of 504/);
    const methods = await answerLogin(visit.page, async (route) => {
      await route.fetch();
      // The cookie of the session is lost with the answer.
      await visit.context.clearCookies({ name: /intent-session/ });
      await answer(route);
    });
    await site.simulator.wallet('Ada').login(await begin(visit.page));
    expect(await event(visit.page, 'success')).toMatchObject({ user: userOf('Ada') });
    await state(visit.page, 'done');
    expect(methods).toEqual(['POST', 'POST']);
    expect(await session(visit.page)).toEqual({ user: userOf('Ada') });
    expect((await seen(visit.page)).map(([name]) => name)).not.toContain('error');
  });

  test.each([
    ['refuses', busy],
    ['is lost', noAnswer],
  ])('that %s, and then is 404, does not report the previously logged-in user', async (_name, answer) => {
    const visit = await open(site.page({ script: buttonScript(login) }));
    visit.forgive(/ERR_FAILED/, /status of (?:404|503)/);
    await site.simulator.wallet('Ada').login(await begin(visit.page));
    await event(visit.page, 'success');
    await closed(visit.page);
    const methods = await answerLogin(visit.page, answer, over);
    await site.simulator.wallet('Ben').login(await begin(visit.page));
    await state(visit.page, 'problem');
    expect(methods).toEqual(['POST', 'POST']);
    expect((await seen(visit.page)).filter(([name]) => name === 'success')).toHaveLength(1);
  });
});

describe('while POST /session is answered 500', () => {
  const failed = (route: Route): Promise<void> => route.fulfill({ status: 500, json: { code: 'internal_error' } });

  /** Opens the dialog, logs in with the wallet, and advances the clock until the dialog shows the text. */
  async function logInUntil(text: string, ...answers: ((route: Route) => Promise<void>)[]): Promise<Page> {
    const visit = await open(site.page({ script: buttonScript(login) }));
    const { page } = visit;
    visit.forgive(/status of (?:403|404|500)/);
    await answerLogin(page, ...answers);
    const pending = new Set<Request>();
    page.on('request', (request) => request.url().endsWith('/session') && pending.add(request));
    page.on('requestfinished', (request) => pending.delete(request));
    page.on('requestfailed', (request) => pending.delete(request));
    const code = await begin(page);
    await page.clock.install();
    await site.simulator.wallet('Ada').login(code);
    await eventually(async () => {
      // Otherwise a request could time out before a busy machine answers it.
      if (pending.size === 0) await page.clock.fastForward(250);
      expect(await part(page, 'status').textContent()).toBe(text);
    });
    return page;
  }

  test('the dialog names the problem and continues until the login is completed', async () => {
    let release: (route: Route) => void = () => undefined;
    const held = new Promise<Route>((resolve) => {
      release = resolve;
    });
    const page = await logInUntil('The site has a problem. Still trying…', failed, failed, async (route) =>
      release(route),
    );
    expect(await part(page, 'dialog').getAttribute('data-state')).toBe('completing');
    await (await held).continue();
    expect(await event(page, 'success')).toMatchObject({ user: userOf('Ada') });
  });
});

describe('while the login is being completed', () => {
  /** Holds `POST /session`. @returns a function that releases it */
  async function hold(page: Page): Promise<{ methods: string[]; release: () => void }> {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const methods = await answerLogin(page, async (route) => {
      await held;
      await route.continue();
    });
    return { methods, release };
  }

  const isOpen = (page: Page): Promise<boolean> => part(page, 'dialog').isVisible();

  test('the button opens the dialog, also after a reload', async () => {
    const walletUrl = 'https://wallet.example/';
    const { page } = await open(site.page({ script: buttonScript({ ...login, walletUrl }), lang: 'de' }));
    const code = await begin(page);
    const { methods, release } = await hold(page);
    await page.reload();
    await site.simulator.wallet('Ada').login(code);
    await eventually(() => expect(methods).toEqual(['POST']));
    expect(await isOpen(page)).toBe(false);
    await part(page, 'button').click();
    await eventually(async () => expect(await isOpen(page)).toBe(true));
    expect(await part(page, 'title').textContent()).toBe('Mit Wallet anmelden');
    expect(await part(page, 'status').textContent()).toBe('Sie werden angemeldet …');
    // Link and amount are hidden and take no space.
    for (const name of ['link', 'amount']) {
      expect(await part(page, name).evaluate((element) => element.getClientRects().length)).toBe(0);
    }
    release();
    await state(page, 'done');
    await closed(page);
    expect(await event(page, 'success')).toMatchObject({ user: userOf('Ada') });
    expect(methods).toEqual(['POST']);
  });
});
