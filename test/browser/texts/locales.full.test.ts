import { orderIn } from '../../support/sites/site.js';
import { buttonScript, part, scan, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    payment: (req) => ({ amount: '1234.50', currency: orderIn(req) === 'yen' ? 'jpy' : 'eur' }),
  });
});

// As in CLDR. The spaces are U+00A0 and U+202F.
test.each([
  ['en', '€1,234.50', 'Pay with your wallet', 'Cancel'],
  ['de', '1.234,50\u00a0€', 'Mit Wallet bezahlen', 'Abbrechen'],
  ['es', '1234,50\u00a0€', 'Pagar con tu monedero', 'Cancelar'],
  ['fr', '1\u202f234,50\u00a0€', 'Payer avec votre portefeuille', 'Annuler'],
  ['ja', '€1,234.50', 'ウォレットで支払う', 'キャンセル'],
  ['de-AT', '€\u00a01.234,50', 'Mit Wallet bezahlen', 'Abbrechen'],
  ['xx', '€1,234.50', 'Pay with your wallet', 'Cancel'],
])('labels, amounts and the dialog are in %s', async (lang, amount, label, cancel) => {
  const { page } = await open(site.page({ script: buttonScript(), lang }));
  expect(await textOf(page, 'button')).toBe(label);
  await part(page, 'button').click();
  await scan(page);
  expect(await part(page, 'amount').textContent()).toBe(amount);
  expect(await part(page, 'cancel').textContent()).toBe(cancel);
  const spoken = await part(page, 'dialog').evaluate((dialog) => dialog.closest('[lang]')?.getAttribute('lang'));
  expect(spoken).toBe(lang === 'xx' ? 'en-US' : lang);
});

test.each([
  ['a desk', { width: 1280, height: 720 }],
  ['a phone', { width: 320, height: 568 }],
])('right-to-left pages have no overflow on %s', async (_name, viewport) => {
  const { page } = await open(site.page({ script: buttonScript(), lang: 'ar', dir: 'rtl' }), { viewport });
  await part(page, 'button').click();
  await scan(page);
  const boxes = await page.locator('intent-button').evaluate((host) =>
    [...(host.shadowRoot?.querySelectorAll('[part]') ?? [])].map((element) => {
      const { left, right } = element.getBoundingClientRect();
      return [element.getAttribute('part'), left, right] as const;
    }),
  );
  for (const [name, left, right] of boxes) {
    expect([name, left >= 0, right <= viewport.width]).toEqual([name, true, true]);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(wide).toBe(false);
  expect(await part(page, 'dialog').evaluate((dialog) => getComputedStyle(dialog).direction)).toBe('rtl');
});
