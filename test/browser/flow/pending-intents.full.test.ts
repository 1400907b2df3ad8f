import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { destination, domain } from '../../support/sites/site.js';
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
  await site.simulator.wallet('Ada').login(code);
  await eventually(async () => expect(posts).toBe(1));
  await page.evaluate(() => (globalThis as unknown as { another(): void }).another());
  await page.waitForTimeout(1_500);
  release();
  expect(await event(page, 'success')).toMatchObject({ user: { id: site.simulator.wallet('Ada').userId(domain) } });
  await page.waitForTimeout(500);
  expect([posts, await count(page, 'success'), await count(page, 'error')]).toEqual([1, 1, 0]);
});

describe('a button whose order changes', () => {
  test('while the dialog is closed reports the older payment, and stays on the page', async () => {
    const { page } = await open(site.page({ script: reachable({ successUrl: '/thanks?{{INTENT_ID}}' }) }));
    const first = await begin(page);
    await site.simulator.wallet('Ada').scan(first);
    await event(page, 'scanned');
    await part(page, 'close').click();
    await closed(page);
    await setOrder(page, 'other');
    await site.simulator.wallet('Ada').pay(first);
    await eventually(async () => {
      await returned(page);
      expect(await count(page, 'success')).toBe(1);
    });
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
    // Longer than "paid" stays on the screen.
    await page.waitForTimeout(1_500);
    expect(new URL(page.url()).pathname).not.toBe('/thanks');
  });
});

test('a scanned payment is restored after a reload, although a later code was closed without a scan', async () => {
  const { page } = await open(site.page({ script: reachable() }));
  const first = await begin(page);
  await site.simulator.wallet('Ada').scan(first);
  await event(page, 'scanned');
  const later = await site.router.client.paymentIntents.create({ destination, amount: '9.99', currency: 'usd' });
  await page.evaluate(
    (given) => (globalThis as unknown as { button: { update(given: object): void } }).button.update(given),
    { clientSecret: later.clientSecret },
  );
  await state(page, 'waiting');
  await part(page, 'close').click();
  await closed(page);
  await page.reload();
  await site.simulator.wallet('Ada').pay(first);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
});

describe('a tab that is closed', () => {
  test('while the payment is pending: the next tab reports the payment', async () => {
    const address = site.page({ script: buttonScript() });
    const { page, context } = await open(address);
    const code = await begin(page);
    await context.setOffline(true);
    await page.close({ runBeforeUnload: true });
    await eventually(async () => expect(context.pages()).toEqual([]));
    await site.simulator.wallet('Ada').pay(code);
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
    await site.simulator.wallet('Ada').login(code);
    const next = await context.newPage();
    await next.goto(address);
    await part(next, 'button').waitFor();
    await next.waitForTimeout(1_000);
    expect(await count(next, 'success')).toBe(0);
  });
});
