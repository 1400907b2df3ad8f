import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { buttonScript, event, part, scan } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

/** The focused part, or the id of the focused element outside the button. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const outer = document.activeElement;
    return outer?.shadowRoot?.activeElement?.getAttribute('part') ?? outer?.id ?? '';
  });

const body = '<button id="before">Before</button><div id="pay"></div><button id="after">After</button>';

test('the dialog can be opened, navigated, canceled and paid with the keyboard only', async () => {
  const { page } = await open(site.page({ script: buttonScript(), body }));
  await part(page, 'button').waitFor();
  await page.locator('#before').focus();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/\bbutton\b/);
  await page.keyboard.press('Enter');
  await scan(page);

  // Two rounds: the focus never leaves the dialog.
  const visited: string[] = [];
  for (let presses = 0; presses < 8; presses += 1) {
    await page.keyboard.press('Tab');
    visited.push(await focused(page));
  }
  expect(visited).not.toContain('before');
  expect(visited).not.toContain('after');
  expect(visited.join(' ')).toMatch(/\bclose\b/);

  await page.keyboard.press('Escape');
  await event(page, 'cancel');
  await eventually(async () => expect(await focused(page)).toMatch(/\bbutton\b/));

  await page.keyboard.press('Space');
  await site.simulator.wallet('Ada').pay(await scan(page));
  await event(page, 'success');
});
