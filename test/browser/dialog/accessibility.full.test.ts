import { orderIn } from '../../support/sites/site.js';
import { buttonScript, part, state } from '../support/checkout.js';
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
