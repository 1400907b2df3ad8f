import { axeViolations } from './support/axe.js';
import { begin, buttonScript, part, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    payment: async (req) => {
      if (req.body.order === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_500));
      if (req.body.order === 'broken') throw new Error('broken');
      return { amount: '4.50', currency: 'usd' };
    },
  });
});

describe.each(['light', 'dark'] as const)('axe finds nothing in %s', (colorScheme) => {
  test('from the button to the payment', async () => {
    const walletUrl = site.sequencer.walletUrl;
    const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }), {
      colorScheme,
      reducedMotion: 'reduce',
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

  test('while it prepares', async () => {
    const { page } = await open(site.page({ script: buttonScript({ order: 'slow' }) }), {
      colorScheme,
      reducedMotion: 'reduce',
    });
    await part(page, 'button').click();
    await state(page, 'preparing');
    expect(await axeViolations(page)).toEqual([]);
    expect(await part(page, 'dialog').getAttribute('data-state')).toBe('preparing');
  });

  test('when it was declined', async () => {
    const { page } = await open(site.page({ script: buttonScript() }), { colorScheme, reducedMotion: 'reduce' });
    await site.sequencer.wallet('Ada').reject(await begin(page));
    await state(page, 'rejected');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('when it expired', async () => {
    const { page } = await open(site.page({ script: buttonScript({ expiresInMs: 60_000 }) }), {
      colorScheme,
      reducedMotion: 'reduce',
    });
    await page.clock.install();
    await begin(page);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('when it is a problem, and when nobody answers', async () => {
    const visit = await open(site.page({ script: buttonScript({ order: 'broken' }) }), {
      colorScheme,
      reducedMotion: 'reduce',
    });
    visit.forgive(/status of 500/);
    await part(visit.page, 'button').click();
    await state(visit.page, 'problem');
    expect(await axeViolations(visit.page)).toEqual([]);
    const offline = await open(site.page({ script: buttonScript() }), { colorScheme, reducedMotion: 'reduce' });
    offline.forgive(/ERR_INTERNET_DISCONNECTED/);
    await begin(offline.page);
    await offline.context.setOffline(true);
    await state(offline.page, 'offline');
    expect(await axeViolations(offline.page)).toEqual([]);
  });
});

test('whoever wants less motion gets none', async () => {
  const { page } = await open(site.page({ script: buttonScript({ order: 'slow' }) }), { reducedMotion: 'reduce' });
  await part(page, 'button').click();
  await state(page, 'preparing');
  const running = await page.evaluate(() => {
    const root = document.querySelector('intent-button')?.shadowRoot;
    const moving = document.getAnimations().filter(({ effect }) => {
      const target = (effect as KeyframeEffect | null)?.target;
      return target?.getRootNode() === root && Number(effect?.getComputedTiming().duration) > 10;
    });
    return moving.map((animation) => (animation as CSSAnimation).animationName);
  });
  expect(running).toEqual([]);
});
