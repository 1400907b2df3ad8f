import { IntentError } from '../../../src/errors.js';
import { eventually } from '../../support/eventually.js';
import { orderIn } from '../../support/sites/site.js';
import { buttonScript, part, scan, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;
let detail = '';

beforeAll(async () => {
  site = await startStrictSite({
    payment: (req) => {
      if (orderIn(req) === 'refused') throw refusal(detail);
      return { amount: '4.50', currency: 'usd' };
    },
  });
});

/** Like http-errors: the message is shown to visitors. */
const refusal = (message: string): Error => Object.assign(new Error(message), { status: 409, expose: true });

const hostile = [
  ['markup', '<img src=x onerror="globalThis.owned = true"><b>bold</b>'],
  ['the end of a script', '</script><script>globalThis.owned = true</script>'],
  ['an override of the direction', '\u202e05.4$ yaP\u202c'],
  ['something long', 'W'.repeat(2_000)],
] as const;

test.each(hostile)('%s in every label is displayed as text', async (_name, text) => {
  const options = { label: text, payee: text, order: text };
  const { page } = await open(site.page({ script: buttonScript(options) }));
  await eventually(async () => expect(await part(page, 'button').textContent()).toContain(text));
  await part(page, 'button').click();
  await scan(page);
  expect(await part(page, 'payee').textContent()).toContain(text);
  expect(await part(page, 'amount').textContent()).toBe('$4.50');
  expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);
  expect(await page.locator('intent-button :is(img:not([part="logo"]), script, b, svg[onload])').count()).toBe(0);
  // Nothing overflows the screen.
  const { right, bottom } = await page
    .locator('intent-button dialog')
    .evaluate((dialog) => dialog.getBoundingClientRect());
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  expect(right).toBeLessThanOrEqual(width);
  expect(bottom).toBeLessThanOrEqual(height);
});

test.each(hostile)('%s in a refusal of the server is displayed as text', async (_name, text) => {
  detail = text;
  const visit = await open(site.page({ script: buttonScript({ order: 'refused' }) }));
  visit.forgive(/status of 409/);
  const { page } = visit;
  await part(page, 'button').click();
  await state(page, 'problem');
  expect(await part(page, 'status').textContent()).toContain(text);
  expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);
  expect(await page.locator('intent-button :is(img:not([part="logo"]), script, b, svg[onload])').count()).toBe(0);
});

test.each(['javascript:globalThis.owned = true', 'data:text/html,<script>1</script>', ' javascript:1'])(
  'the address %j is rejected',
  async (url) => {
    const script = `
import { elements } from '/intent/v1/elements.js';
globalThis.refused = [];
for (const options of [{ successUrl: ${JSON.stringify(url)} }, { walletUrl: ${JSON.stringify(url)} }]) {
  try { elements.create('button', { mode: 'payment', order: 1, ...options }); } catch (error) { refused.push(error.name); }
}`;
    const { page } = await open(site.page({ script }));
    await page.waitForFunction(() => 'refused' in globalThis);
    const refused = await page.evaluate(() => (globalThis as unknown as { refused: string[] }).refused);
    expect(refused).toEqual(['TypeError', 'TypeError']);
  },
);

test('the error text of the sequencer is not displayed', async () => {
  const broken = await startStrictSite({
    payment: () => {
      throw new IntentError('internal_error', 'row 17 of table intents');
    },
  });
  const visit = await open(broken.page({ script: buttonScript() }));
  visit.forgive(/status of 500/);
  await part(visit.page, 'button').click();
  await state(visit.page, 'problem');
  expect(await visit.page.locator('intent-button dialog').textContent()).not.toContain('row 17');
});
