import { axeViolations } from '../support/axe.js';
import { begin, buttonScript, part, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    payment: async (req) => {
      // Runs while the page is open.
      if (req.body.order === 'slow') await new Promise(() => undefined);
      if (req.body.order === 'broken') throw new Error('broken');
      return { amount: '4.50', currency: 'usd' };
    },
  });
});

describe.each(['light', 'dark'] as const)('axe reports no violations in %s', (colorScheme) => {
  test('from the click to success', async () => {
    const walletUrl = site.sequencer.walletUrl;
    const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }), {
      colorScheme,
    });
    await part(page, 'button').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const code = await begin(page);
    expect(await axeViolations(page)).toEqual([]);
    await site.sequencer.wallet('Ada').scan(code);
    await state(page, 'scanned');
    expect(await axeViolations(page)).toEqual([]);
    await site.sequencer.wallet('Ada').pay(code);
    await state(page, 'done');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('while the site creates the intent', async () => {
    const { page } = await open(site.page({ script: buttonScript({ order: 'slow' }) }), {
      colorScheme,
    });
    await part(page, 'button').click();
    await state(page, 'preparing');
    expect(await axeViolations(page)).toEqual([]);
    expect(await part(page, 'dialog').getAttribute('data-state')).toBe('preparing');
  });

  test('after the wallet declines', async () => {
    const { page } = await open(site.page({ script: buttonScript() }), { colorScheme });
    await site.sequencer.wallet('Ada').decline(await begin(page));
    await state(page, 'declined');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('after the code expires', async () => {
    const { page } = await open(site.page({ script: buttonScript({ expiresInMs: 60_000 }) }), {
      colorScheme,
    });
    await page.clock.install();
    await begin(page);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('after a problem, and while offline', async () => {
    const visit = await open(site.page({ script: buttonScript({ order: 'broken' }) }), {
      colorScheme,
    });
    visit.forgive(/status of 500/);
    await part(visit.page, 'button').click();
    await state(visit.page, 'problem');
    expect(await axeViolations(visit.page)).toEqual([]);
    const offline = await open(site.page({ script: buttonScript() }), { colorScheme });
    offline.forgive(/ERR_INTERNET_DISCONNECTED/);
    await begin(offline.page);
    await offline.context.setOffline(true);
    await state(offline.page, 'offline');
    expect(await axeViolations(offline.page)).toEqual([]);
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
