import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { launchChromium } from '../support/launch-chromium.js';
import { phone, type Show, startScriptedDialog, states } from '../support/scripted-dialog.js';
import type { SitePage } from '../support/strict-site.js';

// `npm run sheets`: a page with pictures of all states of the dialog for each kind of screen, for a person to look at. No test.

const folder = join(process.cwd(), 'build/sheets');

const style =
  '<style>body{display:flex;flex-wrap:wrap;gap:16px;font:16px sans-serif}figure{margin:0}img{border:1px solid #888}</style>';

const desk = { viewport: { width: 1000, height: 720 } };
// Always three values: jest passes a callback for a missing one, and waits for it.
const views: readonly [name: string, view: BrowserContextOptions, page: SitePage][] = [
  ['desktop', desk, {}],
  ['desktop-dark', { ...desk, colorScheme: 'dark' }, {}],
  ['phone', phone, {}],
  ['phone-dark', { ...phone, colorScheme: 'dark' }, {}],
  ['landscape', { ...phone, viewport: { width: 780, height: 390 } }, {}],
  ['narrow', { ...phone, viewport: { width: 320, height: 568 } }, {}],
  ['light-page-on-dark-system', { ...desk, colorScheme: 'dark' }, { colorScheme: '' }],
  ['right-to-left', phone, { dir: 'rtl' }],
  ['german', phone, { lang: 'de' }],
];

let browser: Browser;
let show: Show;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  show = await startScriptedDialog(async (url, view) => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...view });
    const page = await context.newPage();
    await page.goto(url);
    return page;
  });
});

test.each(views)('%s', async (name, view, sitePage) => {
  browser = await launchChromium();
  const figures: string[] = [];
  for (const [state, mode] of states) {
    const page = await show(state, mode, view, sitePage);
    const png = (await page.screenshot()).toString('base64');
    const width = Math.min(page.viewportSize()?.width ?? 0, 480);
    figures.push(
      `<figure><figcaption>${mode} ${state}</figcaption><img width="${width}" src="data:image/png;base64,${png}"></figure>`,
    );
  }
  await browser.close();
  writeFileSync(join(folder, `${name}.html`), `<!doctype html>${style}${figures.join('')}`);
});
