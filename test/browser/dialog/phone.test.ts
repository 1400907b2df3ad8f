import { buttonScript, event, part, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const phone = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

test('on a phone the wallet link is first and visible, and all targets are large enough', async () => {
  const walletUrl = site.simulator.walletUrl;
  const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }), phone);
  await part(page, 'button').tap();
  await state(page, 'waiting');
  const link = await part(page, 'link').boundingBox();
  if (!link) throw new Error('There is no link to be seen.');
  expect(link.y).toBeGreaterThanOrEqual(0);
  expect(link.y + link.height).toBeLessThanOrEqual(phone.viewport.height);
  expect(await part(page, 'code').isVisible()).toBe(false);

  for (const name of ['link', 'show-code', 'close']) {
    const box = await part(page, name).boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
  }
  const dialog = await page.locator('intent-button dialog').boundingBox();
  expect(dialog?.x).toBeGreaterThanOrEqual(0);
  expect((dialog?.x ?? 0) + (dialog?.width ?? 0)).toBeLessThanOrEqual(phone.viewport.width);
});

test('the wallet link contains the client secret, and the tab in the background succeeds', async () => {
  const walletUrl = site.simulator.walletUrl;
  const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }), phone);
  await part(page, 'button').tap();
  await state(page, 'waiting');
  const href = (await part(page, 'link').getAttribute('href')) ?? '';
  expect(href).toMatch(new RegExp(`^${walletUrl}#`));
  await site.simulator.wallet('Ada').pay(href);
  await event(page, 'success');
});
