import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { begin, buttonScript, clickAndScan, closed, event, part, secretOf, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium, type Visit } from './support/visit.js';

// A visit fails on any violation of the site's policy, the strictest possible.
const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

/** Everything the page stores and displays, including shadow roots. */
const everything = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const shadows = [...document.querySelectorAll('intent-button')].map((host) => host.shadowRoot?.innerHTML);
    const stored = [localStorage, sessionStorage].map((storage) => JSON.stringify({ ...storage }));
    return [document.documentElement.outerHTML, ...shadows, ...stored, document.cookie, location.href].join('\n');
  });

/** The addresses and headers of all requests. */
async function sent({ requests }: Visit): Promise<string> {
  const lines = requests.map(async (request) => `${request.url()} ${JSON.stringify(await request.allHeaders())}`);
  return (await Promise.all(lines)).join('\n');
}

test.each(['payment', 'login'] as const)('the secret of a %s is never sent or stored', async (mode) => {
  const walletUrl = site.simulator.walletUrl;
  const visit = await open(site.page({ script: buttonScript({ mode, walletUrl, order: undefined }) }));
  const { page, context } = visit;
  const code = await clickAndScan(page);
  const secret = secretOf(code);
  expect(secret).toMatch(/^[1-9A-HJ-NP-Za-km-z]{20,28}$/);
  // Proves that the search finds the secret: it must be in the link.
  expect(await everything(page)).toContain(secret);

  await site.simulator.wallet('Ada').confirm(code);
  await event(page, 'success');
  // The dialog shows success and closes.
  await state(page, 'done');
  await closed(page);

  expect(await everything(page)).not.toContain(secret);
  expect(await sent(visit)).not.toContain(secret);
  expect(JSON.stringify(await context.storageState())).not.toContain(secret);
  expect(visit.faults).toEqual([]);
});

test('cancel removes the secret from the page', async () => {
  const walletUrl = site.simulator.walletUrl;
  const { page } = await open(site.page({ script: buttonScript({ walletUrl }) }));
  const secret = secretOf(await begin(page));
  expect(await everything(page)).toContain(secret);
  await part(page, 'close').click();
  await event(page, 'cancel');
  await eventually(async () => expect(await everything(page)).not.toContain(secret));
});

test('the server logs no secret', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const secret = secretOf(await begin(page));
  expect(site.log.text).not.toContain(secret);
});
