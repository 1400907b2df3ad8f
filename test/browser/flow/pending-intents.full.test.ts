import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { domain } from '../../support/sites/site.js';
import { begin, buttonScript, closed, event, idOf, part, seen, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const count = async (page: Page, name: string): Promise<number> =>
  (await seen(page)).filter(([one]) => one === name).length;

/** A return to the page polls at once. */
const returned = (page: Page): Promise<void> => page.evaluate(() => void dispatchEvent(new Event('focus')));

const setOrder = (page: Page, order: unknown): Promise<void> =>
  page.evaluate((value) => {
    (globalThis as unknown as { button: { order: unknown } }).button.order = value;
  }, order);

/** The script of a button that the test can reach as `button`. */
const reachable = (options: object = {}, more = ''): string =>
  buttonScript({ ...options }, `globalThis.button = button;${more}`);

test('a second button does not restore a login that the first button completes', async () => {
  const login = { mode: 'login', order: undefined };
  const more = `
globalThis.another = () => {
  const { button: second } = elements.create('button', ${JSON.stringify({ mode: 'login' })});
  record(second);
  document.querySelector('main').append(second);
};`;
  const { page } = await open(site.page({ script: buttonScript(login, more) }));
  const code = await begin(page);
  let posts = 0;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/session', async (route) => {
    posts += 1;
    await held;
    await route.continue();
  });
  await page.reload();
  await site.sequencer.wallet('Ada').login(code);
  await eventually(async () => expect(posts).toBe(1));
  await page.evaluate(() => (globalThis as unknown as { another(): void }).another());
  await page.waitForTimeout(1_500);
  release();
  expect(await event(page, 'success')).toMatchObject({ user: { id: site.sequencer.wallet('Ada').userId(domain) } });
  await page.waitForTimeout(500);
  expect([posts, await count(page, 'success'), await count(page, 'error')]).toEqual([1, 1, 0]);
});

describe('a button whose order changes', () => {
  test('while the dialog is closed reports the older payment, and stays on the page', async () => {
    const { page } = await open(site.page({ script: reachable({ successUrl: '/thanks?{{INTENT_ID}}' }) }));
    const first = await begin(page);
    await site.sequencer.wallet('Ada').scan(first);
    await event(page, 'scanned');
    await part(page, 'cancel').click();
    await closed(page);
    await setOrder(page, 'other');
    await site.sequencer.wallet('Ada').pay(first);
    await eventually(async () => {
      await returned(page);
      expect(await count(page, 'success')).toBe(1);
    });
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
    // Longer than "paid" stays on the screen.
    await page.waitForTimeout(1_500);
    expect(new URL(page.url()).pathname).not.toBe('/thanks');
  });

  test('after a reload restores the pending payment of the new order', async () => {
    const script = reachable();
    const { page } = await open(site.page({ script }));
    await setOrder(page, 'other');
    const code = await begin(page);
    await page.reload();
    await part(page, 'button').waitFor();
    // The button has looked for a payment of its first order.
    await page.waitForTimeout(300);
    await setOrder(page, 'other');
    await site.sequencer.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });
});

test('a scanned payment is restored after a reload, although a later code was closed without a scan', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const first = await begin(page);
  await site.sequencer.wallet('Ada').scan(first);
  await event(page, 'scanned');
  await part(page, 'cancel').click();
  await closed(page);
  await begin(page);
  await part(page, 'cancel').click();
  await closed(page);
  await page.reload();
  await site.sequencer.wallet('Ada').pay(first);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
});

test('a button of another router of the origin neither restores nor forgets the payment of the same order', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const address = page.url();
  const code = await begin(page);
  const polls: string[] = [];
  await page.route('**/shop/status/**', (route) => {
    polls.push(route.request().url());
    return route.fulfill({ json: { exists: false } });
  });
  await page.goto(site.page({ script: buttonScript({ base: '/shop', routes: { events: false } }) }));
  await part(page, 'button').waitFor();
  await page.waitForLoadState('networkidle');
  await page.goto(address);
  await site.sequencer.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  expect(polls).toEqual([]);
});

test('a payment is reported while the amount of the button is invalid', async () => {
  const visit = await open(site.page({ script: reachable() }));
  visit.forgive(/amount must be a decimal/);
  const { page } = visit;
  const code = await begin(page);
  await site.sequencer.wallet('Ada').scan(code);
  await event(page, 'scanned');
  await part(page, 'cancel').click();
  await closed(page);
  // A property that throws here would end a React app.
  await page.evaluate(() => {
    (globalThis as unknown as { button: { amount: string } }).button.amount = '12,50';
  });
  expect(await event(page, 'error')).toMatchObject({ error: { code: 'handler_failed' } });
  await site.sequencer.wallet('Ada').pay(code);
  await eventually(async () => {
    await returned(page);
    expect(await count(page, 'success')).toBe(1);
  });
});

test('a payment that is made after the dialog was closed without a connection succeeds', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  visit.forgive(/ERR_INTERNET_DISCONNECTED/);
  const { page, context } = visit;
  const code = await begin(page);
  await context.setOffline(true);
  await state(page, 'offline');
  await part(page, 'cancel').click();
  await closed(page);
  await site.sequencer.wallet('Ada').pay(code);
  await context.setOffline(false);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

describe('a tab that is closed', () => {
  test('while the payment is pending: the next tab reports the payment', async () => {
    const address = site.page({ script: buttonScript() });
    const { page, context } = await open(address);
    const code = await begin(page);
    await context.setOffline(true);
    await page.close({ runBeforeUnload: true });
    await eventually(async () => expect(context.pages()).toEqual([]));
    await site.sequencer.wallet('Ada').pay(code);
    await context.setOffline(false);
    const next = await context.newPage();
    await next.goto(address);
    expect(await event(next, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('while a login is pending: the next tab does not complete it', async () => {
    const address = site.page({ script: buttonScript({ mode: 'login', order: undefined }) });
    const { page, context } = await open(address);
    const code = await begin(page);
    await page.close({ runBeforeUnload: true });
    await eventually(async () => expect(context.pages()).toEqual([]));
    await site.sequencer.wallet('Ada').login(code);
    const next = await context.newPage();
    await next.goto(address);
    await part(next, 'button').waitFor();
    await next.waitForTimeout(1_000);
    expect(await count(next, 'success')).toBe(0);
  });

  test('leaves nothing in the storage of the site after success', async () => {
    const { page } = await open(site.page({ script: buttonScript() }));
    await site.sequencer.wallet('Ada').pay(await begin(page));
    await event(page, 'success');
    await page.reload();
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  });

  test('and a second open tab: only the tab with the code reports the payment', async () => {
    const address = site.page({ script: buttonScript() });
    const { page, context } = await open(address);
    const code = await begin(page);
    const second = await context.newPage();
    await second.goto(address);
    await part(second, 'button').waitFor();
    await site.sequencer.wallet('Ada').pay(code);
    await event(page, 'success');
    await second.waitForTimeout(1_000);
    expect(await count(second, 'success')).toBe(0);
  });
});
