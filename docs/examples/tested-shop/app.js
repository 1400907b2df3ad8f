import express from 'express';
import { intentRouter, refuse, requireLogin } from 'express-intents';

const prices = new Map(Object.entries({ tea: '4.50', cup: '18.00' }));

export async function createShop(options = {}) {
  const router = intentRouter({
    payment: (req) => {
      const item = req.body.order;
      return { amount: prices.get(item) ?? refuse('We do not sell that.', 404), currency: 'usd', metadata: { item } };
    },
    onPaid: async (payment, { tx }) => {
      await tx.query('insert into orders values ($1, $2) on conflict do nothing', [payment.id, payment.metadata.item]);
    },
    ...options, // set by tests
  });
  await router.ready(); // the ledger is open; rejects if it cannot be opened
  await router.database.query('create table if not exists orders (id text primary key, item text)');
  const app = express().use(router, express.static('public'));
  app.get('/thanks/:id', async (req, res) => {
    const payment = await router.intents.find(req.params.id);
    if (!payment) return res.status(404).send('There is no such payment.');
    if (payment.state !== 'settled') return res.set('Refresh', '1').send('Your order is not confirmed yet.');
    res.send(`Paid. Thank you! Your order: ${payment.metadata.item}.`);
  });
  app.get('/account', requireLogin(), (req, res) => res.send(`Hello ${req.intent.user.id}`));
  return { app, router };
}
