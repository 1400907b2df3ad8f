import { waitForIntent } from 'express-intents/testing';
import type { Page } from 'playwright-core';
import { advance, type ExistingApp, minute, orderOf, ShopVisitor, startExistingApp } from '../examples/existing-app.js';
import { clickAndScan } from './support/checkout.js';
import { useChromium } from './support/visit.js';

// docs/examples/existing-app with a Postgres server, in a browser with the defaults of helmet.

const open = useChromium(); // fails a test in which a content security policy blocks something
let site: ExistingApp;
beforeAll(async () => {
  site = await startExistingApp();
});
afterAll(() => site?.close());

/** Clicks a button and waits for the page that it leads to. */
async function click(page: Page, name: string, path: RegExp): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().click();
  await page.waitForURL(path);
}

async function logInByPassword(page: Page): Promise<void> {
  await page.goto(`${site.origin}/login`);
  await page.getByPlaceholder('Email').fill('ada@example.com');
  await page.getByPlaceholder('Password').fill('tea');
  await click(page, 'Log in', /\/account$/);
}

test('a visitor fills the basket, logs in with a wallet, orders and pays', async () => {
  const { page } = await open(site.origin);
  await click(page, 'Add', /\/basket$/);
  await page.getByRole('link', { name: 'Account' }).click();
  await site.simulator.wallet('Ben').login(await clickAndScan(page));
  await page.waitForURL(/\/account$/);
  await page.getByRole('link', { name: 'Basket' }).click();
  expect(await page.locator('#basket').textContent()).toContain('Smoked black tea');
  await click(page, 'Order', /\/orders\/\d+$/);
  const { id, amount } = await site.simulator.wallet('Ben').pay(await clickAndScan(page));
  expect(amount).toBe('4.50');
  await page.getByText('This order is paid.').waitFor();

  site.simulator.reverse(id);
  await advance(site, 2 * minute);
  await advance(site, minute);
  await waitForIntent(site.router, id, 'reversed');
  await page.reload();
  await page.getByText('This order is reversed.').waitFor();
});

test('a wallet is linked to an account with a password, and its orders are merged', async () => {
  const walletOnly = new ShopVisitor(site);
  await walletOnly.logIn('Mia');
  const order = await walletOnly.order('cup');

  const { page } = await open(site.origin);
  await click(page, 'Add', /\/basket$/);
  await logInByPassword(page);
  await site.simulator.wallet('Mia').login(await clickAndScan(page));
  await page.locator('#wallets button').first().waitFor();
  expect(await page.locator('main').textContent()).toContain('ada@example.com');
  expect(await page.locator(`a[href="${order}"]`).count()).toBe(1);
  await page.getByRole('link', { name: 'Basket' }).click();
  expect(await page.locator('#basket').textContent()).toContain('Smoked black tea');
});

test('a visitor buys a recipe', async () => {
  const { page } = await open(`${site.origin}/recipes/chai`);
  await site.simulator.wallet('Ada').pay(await clickAndScan(page));
  await page.getByText('Simmer the spices').waitFor();
});

test('the admin page lists the payments', async () => {
  const visitor = new ShopVisitor(site);
  await visitor.logInByPassword();
  const path = await visitor.order('cup');
  await visitor.pay(orderOf(path));
  const { page } = await open(site.origin);
  await logInByPassword(page);
  await page.goto(`${site.origin}/admin`);
  expect(await page.locator('tr').nth(1).textContent()).toBe(`Order ${orderOf(path)}18.00settled`);
});
