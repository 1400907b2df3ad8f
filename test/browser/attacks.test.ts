import type { Page } from 'playwright-core';
import { hostileAddresses } from '../attack/support/hostile-addresses.js';
import { type OpenShop, openShop } from '../e2e/shop-fixture.js';
import { eventually } from '../support/eventually.js';
import { serve } from '../support/sites/serve.js';
import { begin, buttonScript, clickAndScan, event, part, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';
import { withoutEd25519 } from './support/without-ed25519.js';

// A visit fails on any violation of the site's policy, the strictest possible. Any text that is used as markup or code is a
// violation, harmful or not.
const open = useChromium();
let site: StrictSite;
let shop: OpenShop;

beforeAll(async () => {
  [site, shop] = await Promise.all([startStrictSite(), openShop()]);
});

/** Records that a script ran. */
const owned = 'globalThis.owned=true';
const isOwned = (page: Page): Promise<boolean> => page.evaluate(() => 'owned' in globalThis);

describe('clickjacking', () => {
  /** Shows these addresses in frames on a page of another origin. @returns the content of the frames */
  async function framedAt(addresses: readonly string[]): Promise<string[]> {
    const frames = addresses.map((address) => `<iframe src="${address}"></iframe>`).join('');
    const evil = await serve(
      (_req, res) => void res.setHeader('Content-Type', 'text/html').end(`<h1>Win</h1>${frames}`),
    );
    const visit = await open(evil);
    visit.forgive(/other origin/, /frame|ancestor|X-Frame-Options/i, /status of/, /favicon/);
    await visit.page.waitForLoadState('networkidle');
    const urls = () => visit.page.frames().flatMap((frame) => (frame.parentFrame() ? [frame.url()] : []));
    // A frame that has not loaded has no URL.
    await eventually('all frames are loaded', () => urls().length === addresses.length && !urls().includes(''));
    return urls();
  }

  test('of any response by another site is blocked', async () => {
    const bare = await serve((_req, res) => void res.setHeader('Content-Type', 'text/html').end('<p>frame me</p>'));
    const routes = [
      '/session',
      '/.well-known/service-payments.json',
      `/status/${'1'.repeat(32)}`,
      '/status/x',
      '/intent',
    ];
    const pages = ['/', '/articles/pot-of-assam', '/login', '/account', '/thanks/x', '/nowhere'];
    const ours = [
      ...routes.map((path) => site.origin + path),
      `${site.origin}/intent/v1/elements.js`,
      site.page({}),
      ...pages.map((path) => shop.origin + path),
      site.simulator.walletUrl,
      site.simulator.inspectorUrl,
    ];
    const framed = await framedAt([bare, ...ours]);
    // The first frame proves that the test sees frames.
    expect(framed[0]).toBe(`${bare}/`);
    expect(framed.slice(1)).toEqual(ours.map(() => 'chrome-error://chromewebdata/'));
  });
});

describe('XSS through every text', () => {
  /** Each ends a text context and starts markup or script; some must be at the start of the text. */
  const payloads = [
    [
      `<img src=x onerror="${owned}">`,
      `"><svg onload="${owned}">`,
      `'-(${owned})-'`,
      `</script><script>${owned}</script>`,
      `\${${owned}}{{constructor.constructor('${owned}')()}}`,
      `\u2028${owned}\u2029//`,
    ].join(''),
    `javascript:${owned}`,
  ];

  /** Checks that no script ran and that the element has only its own parts. */
  async function isUnharmed(page: Page): Promise<void> {
    expect(await isOwned(page)).toBe(false);
    expect(
      await page
        .locator('intent-button :is(img:not([part="logo"]), script, iframe, b, svg[onload], [onerror])')
        .count(),
    ).toBe(0);
  }

  test.each(payloads)('is impossible by %j in every option and every attribute', async (text) => {
    const names = [
      'label',
      'payee',
      'order',
      'locale',
      'appearance',
      'mode',
      'amount',
      'walletUrl',
      'base',
      'expiresInMs',
    ];
    const script = `
import { elements } from '/intent/v1/elements.js';
const text = ${JSON.stringify(text)};
globalThis.tried = 0;
for (const name of ${JSON.stringify(names)}) {
  for (const attribute of [name, name.replace(/[A-Z]/g, (big) => '-' + big.toLowerCase())]) {
    const bare = document.createElement('intent-button');
    bare.setAttribute(attribute, text);
    document.querySelector('#pay').append(bare);
  }
  try {
    elements.create('button', { mode: 'payment', order: 1, [name]: text }).button.mount('#pay');
  } catch {}
  tried += 1;
}
for (const attribute of ['success-url', 'cancel-url', 'lang', 'part', 'data-open', 'data-state']) {
  const bare = document.createElement('intent-button');
  bare.setAttribute(attribute, text);
  document.querySelector('#pay').append(bare);
}`;
    const visit = await open(site.page({ script, lang: text.replaceAll('"', '&quot;') }));
    // An invalid attribute is reported as a page error and as an event.
    visit.forgive(/TypeError: The /, /RangeError/);
    await visit.page.waitForFunction((count) => (globalThis as { tried?: number }).tried === count, names.length);
    await visit.page.locator('intent-button').first().locator('[part~="button"]').click();
    await isUnharmed(visit.page);
  });

  test.each(payloads)('is impossible by %j in every response of the server', async (text) => {
    const visit = await open(site.page({ script: buttonScript() }));
    const { page } = visit;
    visit.forgive(/status of/, /Failed to load/, /EventSource/);
    const problem = { type: text, title: text, status: 409, code: text, detail: text };
    const answers: (readonly [status: number, body: object])[] = [
      [201, { client_secret: text }],
      [409, problem],
      [409, { ...problem, code: 'request_refused' }],
      [500, problem],
    ];
    for (const [status, body] of answers) {
      await page.route('**/intent', (route) => route.fulfill({ status, json: body }), { times: 1 });
      await part(page, 'button').click();
      await state(page, 'problem');
      await isUnharmed(page);
      await part(page, 'close').click();
    }
    const events = `event: status\ndata: ${JSON.stringify({ exists: text, code_scanned: text })}\n\nevent: code_scanned\nid: ${text}\ndata: ${JSON.stringify({ id: text })}\n\n`;
    await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body: events }));
    await page.route('**/status/*', (route) => route.fulfill({ json: { exists: text, code_scanned: text } }));
    await part(page, 'button').click();
    await state(page, 'waiting', 'scanned');
    await eventually(async () => expect(await part(page, 'status').textContent()).not.toBe(''));
    await isUnharmed(page);
    await page.unrouteAll();
  });

  test('is impossible by the addresses of pages and wallets', async () => {
    const walletUrl = `https://wallet.example/?a="};${owned};//&b=</script><script>${owned}</script>$&`;
    const odd = await startStrictSite({ button: { walletUrl } });
    const text = encodeURIComponent(payloads.join(''));
    const { page } = await open(`${odd.page({ script: buttonScript() })}?x=${text}&next=${text}#${text}`);
    await begin(page);
    expect(await part(page, 'link').getAttribute('href')).toMatch(/^https:\/\/wallet\.example\//);
    await isUnharmed(page);
  });

  test.each(payloads)('is impossible by %j in every address of the example shop', async (text) => {
    const place = encodeURIComponent(text);
    const visit = await open(shop.origin);
    visit.forgive(/status of 40[0-9]/);
    for (const path of [
      `/articles/${place}`,
      `/thanks/${place}`,
      `/login?return=${place}`,
      `/account?${place}`,
      `/${place}`,
    ]) {
      await visit.page.goto(`${shop.origin}${path}#${place}`);
      await isUnharmed(visit.page);
      expect(await visit.page.locator('main :is(img[src="x"], script)').count()).toBe(0);
    }
  });

  test('is impossible by texts and return addresses that a site passes to the wallet page', async () => {
    const visit = await open(site.page({ script: buttonScript() }));
    const code = await begin(visit.page);
    for (const back of [
      `javascript:${owned}`,
      `data:text/html,<script>${owned}</script>`,
      `"><img src=x onerror="${owned}">`,
    ]) {
      const wallet = await open(
        `${site.simulator.walletUrl}#${code}&success=${encodeURIComponent(back)}&cancel=${encodeURIComponent(back)}`,
      );
      wallet.forgive(/other origin/);
      await wallet.page.waitForLoadState('networkidle');
      for (const link of await wallet.page.locator('a[href]').all()) {
        expect(await link.getAttribute('href')).not.toMatch(/^\s*(?:javascript|data):/i);
      }
      expect(await isOwned(wallet.page)).toBe(false);
      expect(await wallet.page.locator('img[src="x"]').count()).toBe(0);
    }
  });
});

describe('hostile return addresses, in the button', () => {
  test('that lead to another origin are not followed', async () => {
    const script = `
import { elements } from '/intent/v1/elements.js';
globalThis.taken = [];
for (const url of ${JSON.stringify(hostileAddresses).replaceAll('<', '\\u003c')}) {
  for (const option of ['successUrl', 'cancelUrl']) {
    try {
      elements.create('button', { mode: 'payment', order: 1, [option]: url });
      taken.push(url);
    } catch {}
  }
}
globalThis.isDone = true;`;
    const { page } = await open(site.page({ script }));
    await page.waitForFunction(() => 'isDone' in globalThis);
    const away = await page.evaluate(() =>
      (globalThis as unknown as { taken: string[] }).taken.filter(
        (url) =>
          !/^https?:/.test(new URL(url, location.href).href) || new URL(url, location.href).origin !== location.origin,
      ),
    );
    expect(away).toEqual([]);
    // Addresses that only look hostile are accepted, so the test also detects a button that accepts none.
    const count = await page.evaluate(() => (globalThis as unknown as { taken: string[] }).taken.length);
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(hostileAddresses.length);
  });
});

describe('CSP violations', () => {
  test('do not occur during payment, login, decline and cancel, in another language and in an old browser', async () => {
    for (const options of [{}, { locale: 'ja', before: withoutEd25519 }]) {
      const paying = await open(site.page({ script: buttonScript() }), options);
      await site.simulator.wallet('Ada').pay(await clickAndScan(paying.page));
      await event(paying.page, 'success');
      const declining = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }), options);
      await site.simulator.wallet('Ada').decline(await begin(declining.page));
      await state(declining.page, 'declined');
      await part(declining.page, 'retry').click();
      await state(declining.page, 'waiting');
      await part(declining.page, 'close').click();
      await event(declining.page, 'cancel');
      for (const { faults } of [paying, declining]) expect(faults).toEqual([]);
    }
  });

  test('do not occur in the example shop under its own policy', async () => {
    const visit = await open(shop.origin);
    for (const path of ['/', '/articles/pot-of-assam', '/login']) await visit.page.goto(shop.origin + path);
    expect(visit.faults).toEqual([]);
  });
});

describe('prototype pollution in the page', () => {
  /** Runs in the page first, as a careless script of the site could. */
  function pollute(): void {
    const polluted = {
      base: 'https://evil.example',
      routes: { intent: 'https://evil.example/intent' },
      walletUrl: 'https://evil.example/wallet',
      file: 'x',
      returnOrigins: ['https://evil.example'],
      successUrl: 'https://evil.example',
      cancelUrl: 'https://evil.example',
      label: 'Pay twice',
      login: { clientSecret: '1' },
    };
    for (const [name, value] of Object.entries(polluted)) {
      Object.defineProperty(Object.prototype, name, { value, writable: true, configurable: true, enumerable: false });
    }
  }

  test.each([
    ['with a wallet URL', 'https://wallet.example/open', /^https:\/\/wallet\.example\/open#/],
    ['without a wallet URL', undefined, /^none$/],
  ])('of a site %s redirects neither requests nor the visitor', async (_name, walletUrl, link) => {
    const { page: addPage, simulator } = await startStrictSite({ button: { walletUrl } });
    // A visit fails on any request to another origin.
    const { page, requests } = await open(addPage({ script: buttonScript() }), { before: pollute });
    expect(await part(page, 'button').innerText()).not.toContain('twice');
    const code = await clickAndScan(page);
    expect((await part(page, 'link').getAttribute('href')) ?? 'none').toMatch(link);
    await simulator.wallet('Ada').pay(code);
    await event(page, 'success');
    expect(requests.filter((request) => request.url().includes('evil'))).toEqual([]);
  });
});
