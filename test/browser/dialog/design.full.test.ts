import type { Express } from 'express';
import type { Page } from 'playwright-core';
import { requireLogin } from '../../../src/http/session/require-login.js';
import { eventually } from '../../support/eventually.js';
import { destination, orderIn } from '../../support/sites/site.js';
import { axeViolations } from '../support/axe.js';
import { begin, buttonScript, hold, part, state, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

// What a payment designer checks: whom and how much, before anything else; one primary action; the theme of the page; the words.

const open = useChromium();
let site: StrictSite;
let plain: StrictSite;

const accent = 'rgb(47, 93, 74)';

beforeAll(async () => {
  const options = {
    payment: async (req: Parameters<typeof orderIn>[0]) => {
      if (orderIn(req) === 'broken') throw new Error('broken');
      return { amount: '4.50', currency: 'usd' };
    },
  };
  site = await startStrictSite({
    ...options,
    button: {
      name: 'Tea House',
      logo: '/logo.svg',
      accent: '#2f5d4a',
      help: { url: '/wallets' },
      texts: {
        en: { payment: 'Buy now', waiting: 'Point your wallet at this.' },
        ar: { payment: 'ادفع', expires: 'تنتهي خلال' },
      },
    },
  });
  plain = await startStrictSite(options);
});

/** A page for visitors who have logged in. */
const guard = (app: Express): void => void app.get('/account', requireLogin(), (_req, res) => void res.send('ok'));

const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

const style = (page: Page, name: string, property: string): Promise<string> =>
  part(page, name).evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), property);

/** The visible actions with the accent as their background. */
const primary = (page: Page): Promise<(string | null)[]> =>
  part(page, 'dialog').evaluate((dialog) =>
    [...dialog.querySelectorAll('footer > :is(a, button)')]
      .filter((action) => action.checkVisibility() && getComputedStyle(action).backgroundColor !== 'rgba(0, 0, 0, 0)')
      .map((action) => action.getAttribute('part')),
  );

describe('the header', () => {
  test('shows the name, the logo and the domain of the site, and the button has its accent', async () => {
    const { page } = await open(site.page({ script: buttonScript() }));
    expect(await style(page, 'button', 'background-color')).toBe(accent);
    await begin(page);
    expect([await textOf(page, 'payee'), await textOf(page, 'domain')]).toEqual(['Tea House', '127.0.0.1']);
    const width = () => part(page, 'logo').evaluate((logo) => (logo as HTMLImageElement).naturalWidth);
    await eventually(async () => expect(await width()).toBeGreaterThan(0));
    expect(await part(page, 'logo').isVisible()).toBe(true);
  });

  test('shows the payee of the page, or only the domain, once', async () => {
    const named = await open(site.page({ script: buttonScript({ payee: 'A shop' }) }));
    await begin(named.page);
    expect([await textOf(named.page, 'payee'), await textOf(named.page, 'domain')]).toEqual(['A shop', '127.0.0.1']);
    const { page } = await open(plain.page({ script: buttonScript() }));
    await begin(page);
    expect(await textOf(page, 'payee')).toBe('127.0.0.1');
    expect(await part(page, 'domain').isVisible()).toBe(false);
    expect(await part(page, 'logo').isVisible()).toBe(false);
  });

  test('has an amount, a payee and a description that differ in size and tone', async () => {
    const { page } = await open(site.page({ script: buttonScript() }));
    await begin(page);
    const [amount, payee, item] = await Promise.all(
      ['amount', 'payee', 'item'].map(async (name) => Number.parseFloat(await style(page, name, 'font-size'))),
    );
    expect([(amount ?? 0) > 2 * (payee ?? 0), (payee ?? 0) > (item ?? 0)]).toEqual([true, true]);
    expect(await style(page, 'item', 'color')).not.toBe(await style(page, 'payee', 'color'));
    expect([await part(page, 'cancel').isVisible(), await part(page, 'close').isVisible()]).toEqual([false, true]);
  });
});

describe('the amount in the label', () => {
  test('is shown while the intent is prepared, and the amount of the intent replaces it without a shift', async () => {
    const { page } = await open(site.page({ script: buttonScript({ label: 'Pay $27.00 now' }) }));
    const release = await hold(page, '**/intent');
    await part(page, 'button').click();
    await state(page, 'preparing');
    expect(await textOf(page, 'amount')).toBe('$27.00');
    const boxes = async () => [await part(page, 'code').boundingBox(), await part(page, 'dialog').boundingBox()];
    const before = await boxes();
    release();
    await state(page, 'waiting');
    expect(await textOf(page, 'amount')).toBe('$4.50');
    expect(await boxes()).toEqual(before);
  });

  test('is shown in an error of the first request', async () => {
    const visit = await open(site.page({ script: buttonScript({ label: 'Pay $27.00', order: 'broken' }) }));
    visit.forgive(/status of 500/);
    await part(visit.page, 'button').click();
    await state(visit.page, 'problem');
    expect(await textOf(visit.page, 'amount')).toBe('$27.00');
  });
});

test('an amount that the visitor has chosen is shown in the currency of the site', async () => {
  const chosen = await startStrictSite({ payment: undefined, clientAmount: { min: 1, max: 99, currency: 'eur' } });
  const { page } = await open(chosen.page({ script: buttonScript({ amount: '12.5', order: undefined }) }));
  await page.route('**/intent', () => undefined);
  await part(page, 'button').click();
  await state(page, 'preparing');
  expect(await textOf(page, 'amount')).toBe('€12.50');
});

test('a link helps visitors without a wallet, and a site without help has none', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  await begin(page);
  expect(await textOf(page, 'help')).toBe('What is a wallet?');
  expect(await part(page, 'help').getAttribute('href')).toBe(`${site.origin}/wallets`);
  const without = await open(plain.page({ script: buttonScript() }));
  await begin(without.page);
  expect(await part(without.page, 'help').isVisible()).toBe(false);
});

test.each([
  ['a page that says nothing, on a dark system', 'dark', '', {}, 'rgb(255, 255, 255)'],
  ['a page for light and dark, on a dark system', 'dark', 'light dark', {}, 'dark'],
  ['a page for light and dark, on a light system', 'light', 'light dark', {}, 'rgb(255, 255, 255)'],
  ['a dark page on a light system', 'light', 'dark', {}, 'dark'],
  ['appearance=light on a dark page', 'dark', 'dark', { appearance: 'light' }, 'rgb(255, 255, 255)'],
  ['appearance=dark on a light page', 'light', '', { appearance: 'dark' }, 'dark'],
] as const)(
  'the theme follows the color scheme of the element: %s',
  async (_name, system, colorScheme, options, surface) => {
    const { page } = await open(plain.page({ script: buttonScript(options), colorScheme }), { colorScheme: system });
    await begin(page);
    const color = await style(page, 'dialog', 'background-color');
    // `color-mix` computes to `color(srgb 0.11 0.11 0.11)`.
    const [red = 0] = (color.match(/[\d.]+/g) ?? []).map(
      (value) => Number(value) * (color.startsWith('rgb') ? 1 : 255),
    );
    expect(red < 64 ? 'dark' : red > 254 ? 'rgb(255, 255, 255)' : color).toBe(surface);
  },
);

describe('after a scan', () => {
  test('on a phone "Open wallet" is not the primary action', async () => {
    const { page } = await open(site.page({ script: buttonScript() }), phone);
    const code = await begin(page);
    expect(await primary(page)).toEqual(['link']);
    await site.simulator.wallet('Ada').scan(code);
    await state(page, 'scanned');
    expect(await primary(page)).toEqual([]);
    expect(await part(page, 'link').isVisible()).toBe(true);
  });

  test('at a desk the code is one click away', async () => {
    const { page } = await open(site.page({ script: buttonScript() }));
    const code = await begin(page);
    await site.simulator.wallet('Ada').scan(code);
    await state(page, 'scanned');
    expect(
      await part(page, 'code')
        .locator('svg')
        .evaluate((svg) => getComputedStyle(svg).opacity),
    ).toBe('0');
    expect(await part(page, 'link').isVisible()).toBe(false);
    await part(page, 'show-code').click();
    expect(
      await part(page, 'code')
        .locator('svg')
        .evaluate((svg) => getComputedStyle(svg).opacity),
    ).toBe('1');
    expect(await part(page, 'link').isVisible()).toBe(true);
  });
});

describe('an expired code', () => {
  test.each([
    [false, 'retry', 'New code'],
    [true, 'check', 'Check again'],
  ])('of a payment has one recommended action; scanned: %s', async (isScanned, name, label) => {
    const { page } = await open(site.page({ script: buttonScript({ expiresInMs: 60_000 }) }));
    await page.clock.install();
    const code = await begin(page);
    if (isScanned) {
      await site.simulator.wallet('Ada').scan(code);
      await state(page, 'scanned');
    }
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    await part(page, 'retry').waitFor();
    expect(await primary(page)).toEqual([name]);
    expect(await textOf(page, name)).toBe(label);
  });

  test('of a login says that nothing happened', async () => {
    const { page } = await open(
      site.page({ script: buttonScript({ mode: 'login', order: undefined, expiresInMs: 60_000 }) }),
    );
    await page.clock.install();
    await begin(page);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    expect(await textOf(page, 'status')).toBe('This login has expired. You were not logged in.');
    expect(await textOf(page, 'retry')).toBe('New code');
  });
});

describe('the texts of the site', () => {
  test('replace those of the button and of the dialog', async () => {
    const { page } = await open(site.page({ script: buttonScript() }));
    expect(await textOf(page, 'button')).toBe('Buy now');
    await begin(page);
    expect(await textOf(page, 'status')).toBe('Point your wallet at this.');
    const german = await open(site.page({ script: buttonScript(), lang: 'de' }));
    expect(await textOf(german.page, 'button')).toBe('Mit Wallet bezahlen');
  });

  test('add a language that is written from right to left, and the layout is mirrored', async () => {
    const { page } = await open(site.page({ script: buttonScript(), lang: 'ar', dir: 'rtl' }));
    expect(await textOf(page, 'button')).toBe('ادفع');
    await begin(page);
    expect(await textOf(page, 'lifetime')).toMatch(/^تنتهي خلال/);
    const [logo, payee, close] = await Promise.all(
      ['logo', 'payee', 'close'].map((name) => part(page, name).boundingBox()),
    );
    expect([(logo?.x ?? 0) > (payee?.x ?? 0), (payee?.x ?? 0) > (close?.x ?? 0)]).toEqual([true, true]);
    expect((payee?.x ?? 0) + (payee?.width ?? 0)).toBeCloseTo((logo?.x ?? 0) - 12, 0);
  });
});

/** The names of the animations that run in a part, and its transitions. */
const motion = (page: Page, name: string): Promise<string[]> =>
  part(page, name).evaluate((element) =>
    [element, ...element.querySelectorAll('*')]
      .map((each) => getComputedStyle(each))
      .flatMap(({ animationName, transitionProperty, transitionDuration }) => [
        animationName,
        Number.parseFloat(transitionDuration) > 0 ? transitionProperty : 'none',
      ])
      .filter((name) => name !== 'none'),
  );

test.each([
  ['no-preference', ['turn'], ['draw']],
  ['reduce', [], []],
] as const)('with prefers-reduced-motion: %s', async (reducedMotion, spinner, check) => {
  const { page } = await open(
    site.page({ script: buttonScript({}, `button.on('success', () => new Promise(() => {}));`) }),
    {
      reducedMotion,
    },
  );
  const release = await hold(page, '**/intent');
  await part(page, 'button').click();
  await state(page, 'preparing');
  expect(await motion(page, 'mark')).toEqual(expect.arrayContaining([...spinner]));
  release();
  await state(page, 'waiting');
  const secret = ((await part(page, 'link').getAttribute('href')) ?? '').split('#')[1] ?? '';
  const isFading = reducedMotion === 'no-preference';
  expect((await motion(page, 'code')).some((name) => name.includes('opacity'))).toBe(isFading);
  await site.simulator.wallet('Ada').pay(secret);
  await state(page, 'done');
  expect((await motion(page, 'mark')).filter((name) => name === 'draw')).toEqual([...check]);
  if (!isFading) expect(await motion(page, 'mark')).toEqual([]);
});

test('while the dialog is loaded, a spinner replaces the wallet on the button', async () => {
  const { page } = await open(site.page({ script: buttonScript() }), { reducedMotion: 'no-preference' });
  await page.route('**/intent-dialog*', () => undefined);
  const drawn = () =>
    part(page, 'icon').evaluate((icon) => [...icon.children].map((path) => getComputedStyle(path).display !== 'none'));
  await part(page, 'button').waitFor();
  expect(await drawn()).toEqual([true, false]);
  await part(page, 'button').click();
  await page.locator('intent-button[data-busy]').waitFor();
  expect(await drawn()).toEqual([false, true]);
});

test.each(['light', 'dark'] as const)(
  'the login page on a phone has no axe violation and no overflow in %s',
  async (colorScheme) => {
    const guarded = await startStrictSite({
      button: { name: 'Tea House', logo: '/logo.svg', accent: '#2f5d4a' },
      after: guard,
    });
    const visit = await open(`${guarded.origin}/account`, { ...phone, colorScheme });
    visit.forgive(/status of 401/);
    await part(visit.page, 'button').waitFor();
    expect(await axeViolations(visit.page)).toEqual([]);
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await style(visit.page, 'button', 'background-color')).toBe(accent);
  },
);

test('the simulated wallet names the site of a payment that also logs in', async () => {
  const { page: addPage, simulator } = await startStrictSite({
    payment: () => ({ amount: '4.50', currency: 'usd', login: true }),
  });
  const shop = await open(addPage({ script: buttonScript({ login: {} }) }));
  const wallet = await open(`${simulator.walletUrl}#${await begin(shop.page)}`);
  await wallet.page.getByText('Payment request from shop.example').waitFor();
});

test('the simulated wallet shows the rate of a payment at a fixed rate', async () => {
  const { simulator, router } = await startStrictSite();
  const exact = { exchangeRate: 0.25, quarks: '1800050' };
  const terms = { destination, amount: '4.50', currency: 'usd', exact };
  const { clientSecret } = await router.client.paymentIntents.create(terms);
  const { page } = await open(`${simulator.walletUrl}#${clientSecret}`);
  await page.getByText('1 kin = 0.25 usd').waitFor();
  await page.getByText('18.0005 kin').waitFor();
});
