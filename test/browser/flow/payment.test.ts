import type { Page } from 'playwright-core';
import {
  begin,
  buttonScript,
  clickAndScan,
  closed,
  event,
  idOf,
  part,
  scan,
  seen,
  state,
} from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({ payment: () => ({ amount: '4.50', currency: 'usd' }) });
});

test('a wallet pays the code on the screen, and success has its id', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const code = await clickAndScan(page);
  const id = idOf(code);
  expect(await part(page, 'amount').textContent()).toBe('$4.50');

  const paid = await site.simulator.wallet('Ada').pay(code);
  expect(paid).toMatchObject({ id, kind: 'payment', amount: '4.50', currency: 'usd' });
  expect(await event(page, 'success')).toMatchObject({ intent: id });
  await state(page, 'done');
  expect((await seen(page)).map(([name]) => name).filter((name) => name !== 'scanned')).toEqual(['invoke', 'success']);
});

test('a declined payment can be retried and emits no success', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const first = await begin(page);
  await site.simulator.wallet('Ada').decline(first);
  await state(page, 'declined');
  await part(page, 'retry').click();
  const second = await scan(page);
  expect(second).not.toBe(first);
  await site.simulator.wallet('Ben').pay(second);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(second) });
  expect((await seen(page)).filter(([name]) => name === 'success')).toHaveLength(1);
});

test.each([
  ['the button for it', (page: Page) => part(page, 'close').click()],
  ['Escape', (page: Page) => page.keyboard.press('Escape')],
])('%s cancels, and the focus returns', async (_name, cancel) => {
  const { page } = await open(site.page({ script: buttonScript() }));
  await part(page, 'button').focus();
  await begin(page);
  await cancel(page);
  await event(page, 'cancel');
  await closed(page);
  const focused = await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute('part'));
  expect(focused).toMatch(/\bbutton\b/);
  expect((await seen(page)).map(([name]) => name)).not.toContain('success');
});

test('cancel redirects to the cancel URL', async () => {
  const urls = { successUrl: '/thanks', cancelUrl: '/thanks?canceled' };
  const { page } = await open(site.page({ script: buttonScript(urls) }));
  await begin(page);
  await part(page, 'close').click();
  await page.waitForURL(`${site.origin}/thanks?canceled`);
});

test('two immediate clicks create one intent', async () => {
  const { page, requests } = await open(site.page({ script: buttonScript() }));
  await part(page, 'button').evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await state(page, 'waiting');
  expect(requests.filter((request) => request.method() === 'POST').map((request) => request.url())).toEqual([
    `${site.origin}/intent`,
  ]);
});

test('the element works in static markup', async () => {
  const { page } = await open(
    site.page({
      body: '<intent-button mode="payment" order="tea"></intent-button>',
      script: `import '/intent/v1/elements.js';
import { record } from '/record.js';
const host = document.querySelector('intent-button');
for (const name of ['success']) host.addEventListener(name, () => { globalThis.done = true; });`,
    }),
  );
  const code = await clickAndScan(page);
  await site.simulator.wallet('Ada').pay(code);
  await state(page, 'done');
});

describe('an unused code', () => {
  test('expires: it leaves the screen, and a retry shows a new one', async () => {
    const { page } = await open(site.page({ script: buttonScript({ expiresInMs: 60_000 }) }));
    await page.clock.install();
    const first = await begin(page);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    expect(await part(page, 'code').locator('svg:visible').count()).toBe(0);
    await part(page, 'retry').click();
    const second = await scan(page);
    expect(second).not.toBe(first);
    await site.simulator.wallet('Ada').pay(second);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(second) });
  });

  test('whose expiresInMs exceeds the limit of timers does not expire immediately', async () => {
    const { page } = await open(site.page({ script: buttonScript({ expiresInMs: 2 ** 31 }) }));
    await page.clock.install();
    const code = await begin(page);
    await page.clock.fastForward(23 * 86_400_000);
    expect(await part(page, 'dialog').getAttribute('data-state')).not.toBe('expired');
    await site.simulator.wallet('Ada').pay(code);
    await page.clock.fastForward(60_000);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });
});
