import type { BrowserContextOptions, Page } from 'playwright-core';
import { type ButtonOptions, buttonScript, hold, part, state, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({ button: { walletUrl: undefined } });
});

const walletUrl = 'https://wallet.example/';
const upright = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const landscape = { viewport: { width: 844, height: 390 }, hasTouch: true, isMobile: true };
const desk = { viewport: { width: 1280, height: 800 } };
const small = { viewport: { width: 1280, height: 620 } };

/** Opens the dialog with the code on the screen. */
async function openDialog(view: BrowserContextOptions, options: ButtonOptions = {}): Promise<Page> {
  const { page } = await open(site.page({ script: buttonScript(options) }), view);
  await part(page, 'button').click();
  await state(page, 'waiting');
  return page;
}

const height = (page: Page): Promise<number> =>
  part(page, 'dialog').evaluate((dialog) => dialog.getBoundingClientRect().height);

/** The parts that have the accent as their background: the primary action. */
const filled = (page: Page): Promise<(string | null)[]> =>
  part(page, 'dialog').evaluate((dialog) =>
    [...dialog.querySelectorAll('footer > :is(a, button)')]
      .filter((action) => action.checkVisibility() && getComputedStyle(action).backgroundColor !== 'rgba(0, 0, 0, 0)')
      .map((action) => action.getAttribute('part')),
  );

describe.each([
  ['a desk', desk],
  ['a low window', small],
  ['a phone', upright],
  ['a phone on its side', landscape],
])('on %s', (_name, view) => {
  test.each([
    ['a wallet link', { walletUrl }],
    ['no wallet link', {}],
  ])('with %s the height is the same in all states, and nothing is cut off', async (_link, options) => {
    const visit = await open(
      site.page({ script: buttonScript({ ...options, expiresInMs: 60_000, order: 'slow' }) }),
      view,
    );
    const { page } = visit;
    await page.clock.install();
    const release = await hold(page, '**/intent');
    await part(page, 'button').click();
    await state(page, 'preparing');
    const first = await height(page);
    release();
    await state(page, 'waiting');
    const waiting = await height(page);
    expect(await part(page, 'dialog').evaluate((dialog) => dialog.scrollHeight <= dialog.clientHeight)).toBe(true);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    const expired = await height(page);
    await part(page, 'retry').waitFor();
    const checked = await height(page);
    expect({ waiting, expired, checked }).toEqual({ waiting: first, expired: first, checked: first });
    expect(first).toBeLessThanOrEqual(view.viewport.height);
  });
});

test('on a phone the code is one tap away; on its side it is left of everything', async () => {
  const page = await openDialog(upright, { walletUrl });
  expect(await textOf(page, 'status')).toBe('Continue in your wallet.');
  expect([await textOf(page, 'link'), await textOf(page, 'show-code')]).toEqual([
    'Open wallet',
    'Show code for another device',
  ]);
  expect(await part(page, 'code').isVisible()).toBe(false);
  expect(await filled(page)).toEqual(['link']);
  await part(page, 'show-code').click();
  expect(await textOf(page, 'status')).toBe('Scan this code with your wallet.');
  expect((await part(page, 'code').boundingBox())?.width).toBeGreaterThan(200);
  expect(await part(page, 'show-code').isVisible()).toBe(false);
  expect(await filled(page)).toEqual([]);
  const turned = await openDialog(landscape, { walletUrl });
  await part(turned, 'show-code').click();
  const [box, link] = [await part(turned, 'code').boundingBox(), await part(turned, 'link').boundingBox()];
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(link?.x ?? 0);
});

test('the name of the dialog has the amount and the payee', async () => {
  const page = await openDialog(desk, { payee: 'A shop' });
  await page.getByRole('dialog', { name: /^Pay with your wallet \$4\.50 .*A shop 127\.0\.0\.1$/ }).waitFor();
  await page.getByRole('img', { name: 'QR code for your wallet, $4.50' }).waitFor();
});

test.each([
  ['the wallet link', { walletUrl }, 'Copy link', /^https:\/\/wallet\.example\/#[1-9A-Za-z]{20,30}$/],
  ['the code, without a wallet URL', {}, 'Copy code', /^[1-9A-Za-z]{20,30}$/],
])('the visitor can copy %s on a phone', async (_name, options, label, copied) => {
  const { page, context } = await open(site.page({ script: buttonScript(options) }), upright);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.origin });
  await part(page, 'button').click();
  await state(page, 'waiting');
  expect(await textOf(page, 'copy')).toBe(label);
  if ('walletUrl' in options) await part(page, 'show-code').click();
  await part(page, 'copy').click();
  await part(page, 'copy').filter({ hasText: 'Copied' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
  const matches = await page.evaluate(
    async (source) => new RegExp(source).test(await navigator.clipboard.readText()),
    copied.source,
  );
  expect(matches).toBe(true);
  await part(page, 'copy').filter({ hasText: label }).waitFor();
});

test('what the payer buys is shown when the event stream reports it', async () => {
  const description = 'Blue shirt, size M';
  const { page } = await open(site.page({ script: buttonScript() }), desk);
  await page.route('**/events', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: description\ndata: ${JSON.stringify({ description })}\n\nevent: description\ndata: {"description":5}\n\n`,
    }),
  );
  await part(page, 'button').click();
  await state(page, 'waiting');
  expect(await textOf(page, 'item')).toBe(description);
  await page.getByRole('dialog', { name: /Blue shirt/ }).waitFor();
});
