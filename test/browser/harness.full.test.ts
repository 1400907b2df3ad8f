import { generate } from 'lean-qr';
import { toSvgSource } from 'lean-qr/extras/svg';
import { eventually } from '../support/eventually.js';
import { axeViolations } from './support/axe.js';
import { launchChromium } from './support/launch-chromium.js';
import { readCode } from './support/read-code.js';
import { startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

// The other tests rely on the harness to detect faults.
const open = useChromium();

describe('a visit', () => {
  test.each([
    ['an uncaught error', 'null.x', /^page: TypeError/],
    ['an unhandled rejection', 'Promise.reject(new Error("lost"))', /^page: Error: lost/],
    ['an error on the console', 'console.error("spilled")', /^console: spilled/],
    ['markup written into the page', 'document.body.innerHTML = "<b>"', /require-trusted-types-for/],
    ['a style in the markup', 'document.body.setAttribute("style", "color: red")', /style-src-attr inline/],
    ['text run as code', 'eval("1")', /trusted-types-sink eval/],
    [
      'a script of another origin',
      'import("http://elsewhere.example/x.js").catch(() => {})',
      /script-src-elem http:\/\/elsewhere/,
    ],
  ])('records %s', async (_name, script, expected) => {
    const site = await startStrictSite({ login: false });
    const visit = await open(site.page({ script }));
    await eventually(() => expect(visit.faults).toContainEqual(expect.stringMatching(expected)));
    visit.forgive(/./);
  });

  test('records a request to another origin that no policy blocked', async () => {
    const site = await startStrictSite({ login: false });
    const other = await startStrictSite({ login: false });
    const visit = await open(site.page({ body: `<a href="${other.origin}">elsewhere</a>` }));
    expect(visit.faults).toEqual([]);
    await visit.page.click('a');
    await eventually(() => expect(visit.faults).toContain(`other origin: ${other.origin}`));
    visit.forgive(/other origin/, /404/);
  });
});

// jsQR reads an empty code in some pictures without one.
test('readCode reads the code on the screen, and undefined without one or if it is empty', async () => {
  const site = await startStrictSite({ login: false });
  const picture = (text: string): string => `<div id="code">${toSvgSource(generate(text), { width: 200 })}</div>`;
  const empty = await open(site.page({ body: picture('') }));
  expect(await readCode(empty.page)).toBeUndefined();
  const { page } = await open(site.page({ body: picture('tea for two') }));
  expect(await readCode(page)).toBe('tea for two');
  await page.evaluate(() => document.querySelector('#code')?.remove());
  expect(await readCode(page)).toBeUndefined();
});

test('axeViolations reports a faulty page, and nothing for a correct one', async () => {
  const site = await startStrictSite({ login: false });
  const { page } = await open(site.page({}));
  expect(await axeViolations(page)).toEqual([]);
  await page.evaluate(() => document.querySelector('main')?.append(new Image()));
  expect(await axeViolations(page)).toEqual([expect.stringMatching(/^image-alt/)]);
});

test('launchChromium without a browser says what to install', async () => {
  const path = process.env.CHROMIUM_PATH;
  process.env.CHROMIUM_PATH = '/nowhere/chromium';
  try {
    await expect(launchChromium()).rejects.toThrow(
      /Install Chromium or Chrome.*or set CHROMIUM_PATH.*\/nowhere\/chromium/s,
    );
  } finally {
    if (path === undefined) delete process.env.CHROMIUM_PATH;
    else process.env.CHROMIUM_PATH = path;
  }
});
