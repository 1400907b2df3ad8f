import type { BrowserContext, FrameLocator } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { buttonScript } from './support/checkout.js';
import { launchChromium } from './support/launch-chromium.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium, type Visit } from './support/visit.js';

// The button in a frame of another site.

const open = useChromium(() =>
  launchChromium({
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-features=LocalNetworkAccessChecks'],
  }),
);
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    before: (app) => {
      app.get('/framed/:mode', (req, res) => {
        res.removeHeader('Content-Security-Policy');
        res.send(
          `<!doctype html><div id="pay"></div><script type="module" src="/framed/${req.params.mode}/page.js"></script>`,
        );
      });
      app.get('/framed/:mode/page.js', (req, res) => {
        res.type('js').send(buttonScript({ mode: req.params.mode, walletUrl: 'https://wallet.example/open' }));
      });
    },
  });
});

/** Opens a page of another site with a frame of the site. */
async function openFramed(
  mode: string,
  attributes = '',
  before?: () => void,
): Promise<Visit & { frame: FrameLocator }> {
  const visit = await open(`${site.origin}/thanks`, before && { before });
  visit.forgive(/other origin/, /status of 40[49]/, /Blocked autofocusing/);
  await embed(visit.context);
  await visit.page.goto(`https://other.example/?${new URLSearchParams({ mode, attributes })}`);
  return { ...visit, frame: visit.page.frameLocator('iframe') };
}

const embed = (context: BrowserContext): Promise<unknown> =>
  context.route('https://other.example/**', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const body = `<!doctype html><title>Another site</title><iframe ${query.get('attributes')} width="800" height="700" src="${site.origin}/framed/${query.get('mode')}"></iframe>`;
    return route.fulfill({ contentType: 'text/html', body });
  });

test('a login in a frame of another site says that cookies are blocked instead of showing a code', async () => {
  const { frame, page, requests } = await openFramed('login');
  await frame.locator('[part="button"]').click();
  await frame.locator('dialog[data-state="problem"]').waitFor();
  expect(await frame.locator('[part="status"]').textContent()).toMatch(/cookie.*its own tab/);
  expect(await frame.locator('[part="code"] svg').count()).toBe(0);
  expect(posts(requests)).toEqual(['/intent', '/session']);
  await page.close();
});

const posts = (requests: Visit['requests']): string[] =>
  requests.filter((request) => request.method() === 'POST').map((request) => new URL(request.url()).pathname);

test('a payment in a frame of another site sends no further request', async () => {
  const { frame, requests } = await openFramed('payment');
  await frame.locator('[part="button"]').click();
  await frame.locator('dialog[data-state="waiting"]').waitFor();
  expect(posts(requests)).toEqual(['/intent']);
});

test('a login in a frame of its own site shows its code', async () => {
  const visit = await open(`${site.origin}/thanks`);
  visit.forgive(/status of 409/, /securitypolicyviolation/, /Content Security Policy/);
  await visit.context.route('**/thanks', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<iframe width="800" height="700" src="${site.origin}/framed/login"></iframe>`,
    }),
  );
  await visit.page.reload();
  const frame = visit.page.frameLocator('iframe');
  await frame.locator('[part="button"]').click();
  await frame.locator('dialog[data-state="waiting"]').waitFor();
  expect(await frame.locator('[part="code"] svg').count()).toBe(1);
});

describe('in a frame that may open no windows', () => {
  const sandbox = 'sandbox="allow-scripts allow-same-origin"';

  /** Opens the code of a payment in the frame. */
  async function openCode(attributes: string, before?: () => void) {
    const visit = await openFramed('payment', attributes, before);
    visit.forgive(/Blocked opening/, /permissions policy/);
    await visit.frame.locator('[part="button"]').click();
    await visit.frame.locator('dialog[data-state="waiting"]').waitFor();
    return { ...visit, field: visit.frame.locator('[part="text"]') };
  }

  test('the wallet that cannot be opened is reported, with a selected link to copy', async () => {
    const { context, frame, field } = await openCode(sandbox);
    await frame.locator('[part="link"]').click();
    await frame.locator('[part="status"]', { hasText: 'Copy this link' }).waitFor();
    expect(await field.inputValue()).toMatch(/^https:\/\/wallet\.example\/open#[1-9A-Za-z]{20,30}/);
    expect(await field.evaluate((input: HTMLInputElement) => input.selectionEnd)).toBe(
      (await field.inputValue()).length,
    );
    expect(await frame.locator('[part="link"]').isVisible()).toBe(false);
    expect(context.pages()).toHaveLength(1);
  });

  test('the link is copied without permission for the clipboard', async () => {
    const { frame, field } = await openCode('');
    await frame.locator('[part="copy"]').click();
    await frame.locator('[part="copy"]', { hasText: 'Copied' }).waitFor();
    expect(await field.isVisible()).toBe(false);
  });

  test('a link that cannot be copied is selected, for the visitor to copy', async () => {
    const { frame, field } = await openCode(sandbox, () => {
      document.execCommand = () => false;
    });
    await frame.locator('[part="copy"]').click();
    await frame.locator('[part="status"]', { hasText: 'Copy this text' }).waitFor();
    expect(await field.inputValue()).toMatch(/^https:\/\/wallet\.example\/open#[1-9A-Za-z]{20,30}$/);
    expect(await frame.locator('[part="link"]').isVisible()).toBe(true);
  });
});

test('a wallet that a frame opens has no access to the page', async () => {
  const visit = await openFramed('payment');
  const { context, frame } = visit;
  await context.route('https://wallet.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>A wallet</title>' }),
  );
  await frame.locator('[part="button"]').click();
  await frame.locator('dialog[data-state="waiting"]').waitFor();
  const opening = context.waitForEvent('page');
  await frame.locator('[part="link"]').click();
  const wallet = await opening;
  await eventually(async () => expect(await wallet.title()).toBe('A wallet'));
  expect(await wallet.evaluate(() => opener)).toBeNull();
  expect(await wallet.evaluate(() => document.referrer)).not.toContain('#');
  expect(await frame.locator('[part="text"]').isVisible()).toBe(false);
});
