import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test as base, expect, type Page } from '@playwright/test';
import { type Simulator, startSimulator, temporaryLedger } from 'express-intents/testing';
import { createShop } from './app.js';

interface Shop {
  readonly url: string;
  readonly simulator: Simulator;
}

/** One shop for each worker, on a free port. */
const test = base.extend<object, { shop: Shop }>({
  shop: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern here.
    async ({}, use) => {
      const simulator = await startSimulator();
      const ledger = await temporaryLedger();
      const { app, router } = await createShop(simulator.siteOptions({ ledger: { url: ledger.url } }));
      const server = app.listen(0);
      await once(server, 'listening');
      await use({ simulator, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      await router.close();
      server.close();
      await simulator.close();
      await ledger.remove();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});

/** Returns the link that opens a wallet on this device. It contains the code. */
async function scan(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Open wallet on this device' });
  await expect(link).toHaveAttribute('href', /#/);
  return (await link.getAttribute('href')) ?? '';
}

test('a customer buys tea', async ({ page, shop }) => {
  await page.goto(shop.url);
  await page.getByRole('button', { name: 'Pay with your wallet' }).click();
  await shop.simulator.wallet('Ada').pay(await scan(page));
  await page.waitForURL('**/thanks/*');
  await expect(page.getByText('Paid. Thank you!')).toBeVisible();
});

test('the page reports that a customer declined', async ({ page, shop }) => {
  await page.goto(shop.url);
  await page.getByRole('button', { name: 'Pay with your wallet' }).click();
  await shop.simulator.wallet('Ada').decline(await scan(page));
  await expect(page.getByText('Declined in your wallet.')).toBeVisible();
});

test('a customer logs in', async ({ page, shop }) => {
  await page.goto(`${shop.url}/login.html`);
  await page.getByRole('button', { name: 'Log in with your wallet' }).click();
  const { userId } = await shop.simulator.wallet('Ada').login(await scan(page));
  await page.waitForURL('**/account');
  await expect(page.getByText(`Hello ${userId}`)).toBeVisible();
});
