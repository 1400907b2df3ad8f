import { eventually } from '../../support/eventually.js';
import { orderIn } from '../../support/sites/site.js';
import { buttonScript, hold, part, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    payment: async (req) => {
      // Runs while the page is open.
      if (orderIn(req) === 'slow') await new Promise(() => undefined);
      if (orderIn(req) === 'broken') throw new Error('broken');
      return { amount: '4.50', currency: 'usd' };
    },
  });
});

test.each([
  ['no-preference', true],
  ['reduce', false],
] as const)('animations respect prefers-reduced-motion: %s', async (reducedMotion, isMoving) => {
  const { page } = await open(site.page({ script: buttonScript({ order: 'slow' }) }), { reducedMotion });
  await part(page, 'button').click();
  await state(page, 'preparing');
  const running = await page
    .locator('intent-button')
    .evaluate(
      (host) =>
        (host.shadowRoot?.getAnimations() ?? []).filter(
          ({ effect }) => Number(effect?.getComputedTiming().duration) > 10,
        ).length,
    );
  expect(running > 0).toBe(isMoving);
});

test('while the dialog is loaded, a visitor who wants no motion sees and hears that the button is busy', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const release = await hold(page, '**/intent-dialog.*.js*');
  const button = page.locator('intent-button');
  await part(page, 'button').waitFor();
  // Screen readers announce a text only in an element that was displayed before.
  expect(await part(page, 'note').evaluate((note) => getComputedStyle(note).display)).not.toBe('none');
  await part(page, 'button').hover();
  await part(page, 'button').focus();
  const idle = await button.screenshot();
  await part(page, 'button').press('Enter');
  await page.getByRole('status').filter({ hasText: 'One moment' }).waitFor({ state: 'attached' });
  expect((await button.screenshot()).equals(idle)).toBe(false);
  release();
  await state(page, 'waiting');
});

test('the wheel and the keys do not scroll the page behind the dialog', async () => {
  const body = `<div id="pay"></div>${'<p>A long page</p>'.repeat(200)}`;
  const { page } = await open(site.page({ script: buttonScript(), body }));
  const dialog = page.locator('intent-button dialog');
  await part(page, 'button').click();
  await state(page, 'waiting');
  const scrolled = (): Promise<number> =>
    // The browser scrolls before it draws the next frame but one.
    page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(scrollY)))),
    );
  for (const [x, y] of [
    [500, 360],
    [20, 20],
  ] as const) {
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 500);
    expect(await scrolled()).toBe(0);
  }
  for (const key of ['PageDown', 'ArrowDown', 'End', 'Space']) {
    await dialog.press(key);
    expect(await scrolled()).toBe(0);
  }
  await page.keyboard.press('Escape');
  await page.mouse.wheel(0, 500);
  await eventually(async () => expect(await scrolled()).toBeGreaterThan(0));
});
