import type { BrowserContext, FrameLocator } from 'playwright-core';
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
async function openFramed(mode: string, attributes = ''): Promise<Visit & { frame: FrameLocator }> {
  const visit = await open(`${site.origin}/thanks`);
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
