import type { Page } from 'playwright-core';
import { type OpenShop, openShop } from '../e2e/shop-fixture.js';
import { eventually } from '../support/eventually.js';
import { axeViolations } from './support/axe.js';
import { readCode } from './support/read-code.js';
import { useChromium } from './support/visit.js';

// The example shop in a browser. The tests use visible texts and roles only.
const open = useChromium();
let shop: OpenShop;

beforeAll(async () => {
  shop = await openShop();
});

/** Clicks the button with that name. @returns the text of the code that appears */
async function press(page: Page, name: RegExp): Promise<string> {
  await page.getByRole('button', { name }).first().click();
  let code: string | undefined;
  await eventually(async () => {
    code = await readCode(page);
    expect(code).toBeDefined();
  });
  return code ?? '';
}

test('a payment leads to the thanks page', async () => {
  const { page } = await open(`${shop.origin}/articles/pot-of-assam`);
  const code = await press(page, /^Pay/);
  expect(await shop.simulator.wallet('Ada').pay(code)).toMatchObject({
    kind: 'payment',
    amount: '4.50',
    currency: 'usd',
  });
  await page.waitForURL(/\/thanks\//);
  await page.locator('[data-payment="settled"]').waitFor();
  expect(await page.locator('main').textContent()).toContain('A pot of Assam');
});

test('a payment whose hook fails once leads to the thanks page', async () => {
  const { page } = await open(`${shop.origin}/articles/stoneware-cup`);
  await shop.simulator.wallet('Ada').pay(await press(page, /^Pay/));
  await page.locator('[data-payment="settled"]').waitFor();
  expect(await page.title()).toContain('It is paid.');
  expect(shop.log.text).toContain('Simulated failure.');
});

test('a login opens the account, and logging out closes it', async () => {
  const { page } = await open(`${shop.origin}/login`);
  await shop.simulator.wallet('Ben').login(await press(page, /^Log in/));
  await page.waitForURL(`${shop.origin}/account`);
  await page.getByRole('button', { name: /log out/i }).click();
  await page.getByRole('link', { name: /log in/i }).waitFor();
});

test('a declined payment does not lead to the thanks page', async () => {
  const { page } = await open(`${shop.origin}/articles/pot-of-assam`);
  const address = page.url();
  await shop.simulator.wallet('Ada').decline(await press(page, /^Pay/));
  await page
    .getByRole('button', { name: /cancel|close/i })
    .first()
    .click();
  expect(page.url()).toBe(address);
});

test.each(['/', '/articles/pot-of-assam', '/login'])('axe reports no violations on %s', async (path) => {
  const { page } = await open(shop.origin + path);
  expect(await axeViolations(page)).toEqual([]);
});
