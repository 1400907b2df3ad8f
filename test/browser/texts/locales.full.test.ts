import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { orderIn } from '../../support/sites/site.js';
import { begin, buttonScript, hold, part, scan, state, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    login: { confirm: true },
    payment: (req) => ({ amount: '1234.50', currency: orderIn(req) === 'yen' ? 'jpy' : 'eur' }),
  });
});

// As in CLDR. The spaces are U+00A0 and U+202F.
test.each([
  ['en', '€1,234.50', 'Pay with your wallet', 'Close'],
  ['de', '1.234,50\u00a0€', 'Mit Wallet bezahlen', 'Schließen'],
  ['es', '1234,50\u00a0€', 'Pagar con tu monedero', 'Cerrar'],
  ['fr', '1\u202f234,50\u00a0€', 'Payer avec votre portefeuille', 'Fermer'],
  ['ja', '€1,234.50', 'ウォレットで支払う', '閉じる'],
  ['de-AT', '€\u00a01.234,50', 'Mit Wallet bezahlen', 'Schließen'],
  ['xx', '€1,234.50', 'Pay with your wallet', 'Close'],
])('labels, amounts and the dialog are in %s', async (lang, amount, label, close) => {
  const { page } = await open(site.page({ script: buttonScript(), lang }));
  expect(await textOf(page, 'button')).toBe(label);
  await part(page, 'button').click();
  await scan(page);
  expect(await part(page, 'amount').textContent()).toBe(amount);
  expect(await part(page, 'close').getAttribute('aria-label')).toBe(close);
  const spoken = await part(page, 'dialog').evaluate((dialog) => dialog.closest('[lang]')?.getAttribute('lang'));
  expect(spoken).toBe(lang === 'xx' ? 'en-US' : lang);
});

test.each([
  ['a desk', { width: 1280, height: 720 }],
  ['a phone', { width: 320, height: 568 }],
])('right-to-left pages have no overflow on %s', async (_name, viewport) => {
  const { page } = await open(site.page({ script: buttonScript(), lang: 'ar', dir: 'rtl' }), { viewport });
  await part(page, 'button').click();
  await state(page, 'waiting');
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

const speak = (page: Page, lang: string): Promise<void> =>
  page.evaluate((lang) => {
    document.documentElement.lang = lang;
  }, lang);

test('an open dialog follows the language of the page, and keeps its state, its code and the remaining time', async () => {
  const walletUrl = 'https://wallet.example/';
  const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }));
  const opened = Date.now();
  await page.clock.setFixedTime(opened);
  const code = await begin(page);
  await part(page, 'code').evaluate((element) => element.firstElementChild?.setAttribute('data-kept', ''));
  await page.clock.setFixedTime(opened + 65_000);
  await part(page, 'lifetime').filter({ hasText: 'Expires in 13:55' }).waitFor();
  await speak(page, 'de');
  await part(page, 'status').filter({ hasText: 'Scannen Sie diesen Code mit Ihrer Wallet.' }).waitFor();
  expect(await textOf(page, 'title')).toBe('Mit Wallet bezahlen');
  expect(await part(page, 'amount').textContent()).toBe('1.234,50\u00a0€');
  expect(await part(page, 'lifetime').textContent()).toBe('Läuft ab in 13:55');
  expect([await textOf(page, 'link'), await textOf(page, 'copy')]).toEqual([
    'Wallet auf diesem Gerät öffnen',
    'Link kopieren',
  ]);
  await page.getByRole('img', { name: 'QR-Code für Ihre Wallet, 1.234,50\u00a0€' }).waitFor();
  await page.getByRole('button', { name: 'Schließen' }).waitFor();
  expect(await part(page, 'dialog').getAttribute('lang')).toBe('de');
  await state(page, 'waiting');
  expect(await part(page, 'code').locator('[data-kept]').count()).toBe(1);
  expect(await part(page, 'link').getAttribute('href')).toContain(code);
  // The code is no longer on the screen, but the amount is.
  await page.clock.setFixedTime(opened + 3_600_000);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await part(page, 'retry').filter({ hasText: 'Neuer Code' }).waitFor();
  await speak(page, 'fr');
  await part(page, 'retry').filter({ hasText: 'Nouveau code' }).waitFor();
  expect(await textOf(page, 'status')).toMatch(/^Le délai pour payer est écoulé\. Aucun paiement/);
  expect(await part(page, 'amount').textContent()).toBe('1\u202f234,50\u00a0€');
  await state(page, 'expired');
});

test('the question of a login follows the language of the page', async () => {
  const { page } = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }));
  await site.simulator.wallet('Ada').login(await begin(page));
  await part(page, 'status').filter({ hasText: 'Continue as' }).waitFor();
  await speak(page, 'es');
  await part(page, 'status').filter({ hasText: '¿Continuar como' }).waitFor();
  expect([await textOf(page, 'retry'), await textOf(page, 'cancel')]).toEqual(['Continuar', 'No soy yo']);
  await part(page, 'retry').click();
  await state(page, 'done');
  expect(await textOf(page, 'status')).toBe('Sesión iniciada.');
});

test('texts that arrive after the language has changed again are not shown', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const release = await hold(page, '**/intent/v1/de.*.js');
  await begin(page);
  const german = page.waitForResponse('**/intent/v1/de.*.js');
  await speak(page, 'de');
  await eventually(async () => expect(await textOf(page, 'button')).toBe('Mit Wallet bezahlen'));
  await speak(page, 'fr');
  await part(page, 'copy').filter({ hasText: 'Copier le lien' }).waitFor();
  release();
  await (await german).finished();
  await speak(page, 'fr-CA');
  await eventually(async () => expect(await part(page, 'dialog').getAttribute('lang')).toBe('fr-CA'));
  expect(await part(page, 'copy').textContent()).toBe('Copier le lien');
});
