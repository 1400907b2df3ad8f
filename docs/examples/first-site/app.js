import { once } from 'node:events';
import express from 'express';
import { intentRouter, refuse, requireLogin } from 'express-intents';

const prices = new Map([
  ['tea', '4.50'],
  ['cup', '18.00'],
]);
const app = express();
const router = intentRouter({
  payment: (req) => {
    const item = req.body.order;
    return { amount: prices.get(item) ?? refuse('We do not sell that.', 404), currency: 'usd', metadata: { item } };
  },
  onPaid: async (payment, { tx }) => {
    const sql = 'insert into orders (id, item) values ($1, $2) on conflict (id) do nothing';
    await tx.query(sql, [payment.id, payment.metadata.item]);
  },
  button: { name: 'Tea Shop', logo: '/logo.svg', accent: '#2f5d4a' },
});
app.use(router, express.static('public'));
app.get('/thanks/:id', async (req, res) => {
  if (!(await router.intents.find(req.params.id))) return res.status(404).send('There is no such payment.');
  const [order] = (await router.database.query('select item from orders where id = $1', [req.params.id])).rows;
  if (!order) return res.set('Refresh', '1').send('Your order is not confirmed yet.');
  res.send(`Paid. Thank you! Your order: ${order.item}.`);
});
app.get('/account', requireLogin(), (req, res) => {
  res.send(`Hello ${req.intent.user.id}`);
});
const start = async () => {
  console.log('Opening the database. The first start takes a few seconds.');
  const simulator = await router.ready(); // the ledger is open; rejects if it cannot be opened
  await router.database.query('create table if not exists orders (id text primary key, item text)');
  const port = Number(process.env.PORT ?? 3000);
  await once(app.listen(port, '127.0.0.1'), 'listening'); // only this machine; rejects if the port is in use
  console.log(`The shop is at http://localhost:${port}. Ctrl+C stops it.`);
  if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
};
start().catch((error) => {
  console.error(error.message);
  if (error.code === 'EADDRINUSE') console.error(`Set another port: PORT=${error.port + 1}`);
  process.exit(1);
});
