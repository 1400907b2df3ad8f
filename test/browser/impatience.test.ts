import type { Page } from 'playwright-core';
import { begin, buttonScript, closed, event, part, seen, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const count = async (page: Page, name: string): Promise<number> =>
  (await seen(page)).filter(([one]) => one === name).length;

test('Escape twice cancels once, and twenty clicks begin once', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  await begin(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await closed(page);
  await event(page, 'cancel');
  await part(page, 'button').evaluate((button: HTMLElement) => {
    for (let clicks = 0; clicks < 20; clicks += 1) button.click();
  });
  await state(page, 'waiting');
  expect(await count(page, 'cancel')).toBe(1);
  expect(await count(page, 'invoke')).toBe(2);
});

test('a login whose last step fails once is completed by the second, once, and the focus comes back', async () => {
  const visit = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }));
  visit.forgive(/status of 503/);
  const { page } = visit;
  let calls = 0;
  await page.route('**/session', (route) => {
    calls += 1;
    return calls === 1 ? route.fulfill({ status: 503, json: {} }) : route.continue();
  });
  await site.sequencer.wallet('Ada').login(await begin(page));
  await event(page, 'success');
  await closed(page);
  expect(calls).toBe(2);
  expect(await count(page, 'success')).toBe(1);
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe('intent-button');
});

test('a payment that was declined and then made after all succeeds once', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const code = await begin(page);
  await site.sequencer.wallet('Ada').reject(code);
  await state(page, 'rejected');
  await site.sequencer.wallet('Ada').pay(code);
  await state(page, 'done');
  await closed(page);
  expect(await count(page, 'success')).toBe(1);
});

test('a button in a popover shows its dialog', async () => {
  const body = '<button popovertarget="cart" id="open">Cart</button><div popover id="cart"><div id="pay"></div></div>';
  const { page } = await open(site.page({ body, script: buttonScript() }));
  await page.locator('#open').click();
  await begin(page);
  expect(await part(page, 'code').isVisible()).toBe(true);
});
