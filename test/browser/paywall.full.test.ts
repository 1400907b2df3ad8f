import express from 'express';
import { intentRouter, requirePayment } from 'express-intents';
import { startSimulator, temporaryLedger } from 'express-intents/testing';
import { serve } from '../support/sites/serve.js';
import { orderIn } from '../support/sites/site.js';
import { clickAndScan } from './support/checkout.js';
import { useChromium } from './support/visit.js';

const open = useChromium();

test('the payment page of docs/paywalls.md sells a page whose address has a query, and returns to it', async () => {
  const [simulator, ledger] = [await startSimulator(), await temporaryLedger()];
  const terms = { resource: '/articles/tea', amount: '0.50', currency: 'usd' };
  const orders: unknown[] = [];
  const payment = (req: express.Request) => {
    orders.push(orderIn(req));
    return terms;
  };
  const router = intentRouter(simulator.siteOptions({ ledger: { url: ledger.url }, payment }));
  const app = express().use(router, express.static('docs/examples/paywall/public', { extensions: ['html'] }));
  app.get(
    '/articles/tea',
    requirePayment(() => terms, { payUrl: '/buy' }),
    (_req, res) => {
      res.send('<!doctype html><title>Tea</title><link rel="icon" href="data:,"><p>Water just off the boil.');
    },
  );
  const origin = await serve(app);

  const { page, forgive } = await open(`${origin}/articles/tea?source=mail`);
  forgive(/favicon/);
  expect(page.url()).toContain('/buy?return=');
  await simulator.wallet('Ada').pay(await clickAndScan(page));
  await page.getByText('Water just off the boil.').waitFor();
  expect(page.url()).toBe(`${origin}/articles/tea?source=mail`);
  expect(orders).toEqual(['/articles/tea']);

  await router.close();
  await Promise.all([simulator.close(), ledger.remove()]);
});

test('a page whose payment is not settled yet says so, and reloads until it opens', async () => {
  const [simulator, ledger] = [await startSimulator(), await temporaryLedger()];
  const terms = { resource: '/articles/tea', amount: '0.50', currency: 'usd' };
  let isVerified = false;
  const router = intentRouter(
    simulator.siteOptions({ ledger: { url: ledger.url }, payment: () => terms, verifyPayment: () => isVerified }),
  );
  const app = express().use(router, express.static('docs/examples/paywall/public', { extensions: ['html'] }));
  const guard = requirePayment(() => terms, { payUrl: '/buy' });
  app.get('/articles/tea', guard, (_req, res) => void res.send('<!doctype html><title>Tea</title><p>Four minutes.'));
  const origin = await serve(app);

  const { page, forgive } = await open(`${origin}/articles/tea`);
  forgive(/favicon/, /409/);
  await simulator.wallet('Ada').pay(await clickAndScan(page));
  await page.getByText('Your payment is being processed').waitFor();
  expect([page.url(), await page.title()]).toEqual([`${origin}/articles/tea`, 'Payment in progress']);
  isVerified = true;
  const { intents } = await router.intents.list();
  await router.intents.retry(intents[0]?.id ?? '');
  await page.getByText('Four minutes.').waitFor();

  await router.close();
  await Promise.all([simulator.close(), ledger.remove()]);
});
