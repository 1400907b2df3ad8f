import { eventually } from '../support/eventually.js';
import { orderIn } from '../support/sites/site.js';
import { begin, buttonScript, clickAndScan, closed, event, idOf, part, seen, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

const open = useChromium();
let site: StrictSite;
const orders: unknown[] = [];

beforeAll(async () => {
  site = await startStrictSite({
    payment: (req) => {
      orders.push(orderIn(req));
      return { amount: '4.50', currency: 'usd' };
    },
  });
});

beforeEach(() => void orders.splice(0));

const urls = { successUrl: '/thanks', cancelUrl: '/thanks?canceled' };

test('an invoke handler that provides a secret replaces POST /intent', async () => {
  const script = buttonScript(
    { order: 'not asked for' },
    `button.on('invoke', async () => {
  const answer = await fetch('/intent', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'payment', order: 'from the handler' }),
  });
  const { client_secret: clientSecret } = await answer.json();
  button.update({ clientSecret });
});`,
  );
  const { page } = await open(site.page({ script }));
  const code = await clickAndScan(page);
  expect(orders).toEqual(['from the handler']);
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

test('an invoke handler is awaited, and its failure can be retried', async () => {
  const script = buttonScript(
    {},
    `let times = 0;
button.on('invoke', async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  note('handled');
  if ((times += 1) === 1) throw new Error('the basket fell');
});`,
  );
  const visit = await open(site.page({ script }));
  visit.forgive(/the basket fell/);
  await part(visit.page, 'button').click();
  await state(visit.page, 'problem');
  expect(orders).toEqual([]);
  expect(await visit.page.locator('intent-button dialog').textContent()).not.toContain('the basket fell');
  await part(visit.page, 'retry').click();
  await state(visit.page, 'waiting');
  expect(orders).toEqual([42]);
});

test('the redirect waits for the success handler', async () => {
  const script = buttonScript(
    urls,
    `button.on('success', async () => {
  await new Promise((resolve) => { globalThis.release = resolve; });
});`,
  );
  const { page } = await open(site.page({ script }));
  await page.clock.install();
  await site.simulator.wallet('Ada').pay(await begin(page));
  await event(page, 'success');
  // Longer than "paid" stays on the screen.
  await page.clock.runFor(10_000);
  expect(new URL(page.url()).pathname).not.toBe('/thanks');
  await page.evaluate(() => (globalThis as unknown as { release(): void }).release());
  await page.waitForURL(`${site.origin}/thanks`);
});

test('a success handler that returns true prevents the redirect', async () => {
  const script = buttonScript(urls, `button.on('success', async () => true);`);
  const { page } = await open(site.page({ script }));
  const start = page.url();
  await site.simulator.wallet('Ada').pay(await begin(page));
  await event(page, 'success');
  // The dialog closes after the decision about the redirect.
  await closed(page);
  expect(page.url()).toBe(start);
});

test('a cancel handler that returns true prevents the redirect', async () => {
  const script = buttonScript(urls, `button.on('cancel', () => true);`);
  const { page } = await open(site.page({ script }));
  const start = page.url();
  await begin(page);
  await part(page, 'close').click();
  await event(page, 'cancel');
  await page.waitForTimeout(200);
  expect(page.url()).toBe(start);
});

test('a success handler that throws emits error, and the redirect still happens', async () => {
  const script = buttonScript(urls, `button.on('success', () => { throw new Error('confetti'); });`);
  const visit = await open(site.page({ script }));
  visit.forgive(/confetti/);
  await site.simulator.wallet('Ada').pay(await begin(visit.page));
  await visit.page.waitForURL(`${site.origin}/thanks`);
  await eventually(() => expect(visit.faults.join()).toContain('confetti'));
});

test('a button that is removed and mounted again works', async () => {
  const script = buttonScript({}, 'globalThis.button = button;');
  const { page } = await open(site.page({ script }));
  type Global = { button: { mount(selector: string): void; unmount(): void } };
  await begin(page);
  await page.evaluate(() => (globalThis as unknown as Global).button.unmount());
  expect(await page.locator('intent-button').count()).toBe(0);
  await page.evaluate(() => (globalThis as unknown as Global).button.mount('#pay'));
  const code = await begin(page);
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  expect((await seen(page)).filter(([name]) => name === 'success')).toHaveLength(1);
});
