import { once } from 'node:events';
import express from 'express';
import { createServer, intentRouter, refuse, requireLogin } from 'express-intents';

const prices = new Map([
  ['tea', '4.50'],
  ['cup', '18.00'],
]);

const router = intentRouter({
  // Used by restart.sh and load balancers.
  routes: { health: '/healthz' },
  payment: (req) => ({
    amount: prices.get(req.body.order) ?? refuse('We do not sell that.', 404),
    currency: 'usd',
    metadata: { article: req.body.order },
  }),
  onPaid: async (payment, { tx }) => {
    const sql = 'insert into orders (id, article) values ($1, $2) on conflict (id) do nothing';
    await tx.query(sql, [payment.id, payment.metadata.article]);
  },
});

const app = express();
// One proxy sets the visitor's address and scheme. With `true` any client could choose them.
app.set('trust proxy', 1);
app.use(router);
app.get('/orders/:id', async (req, res) => {
  const { rows } = await router.database.query('select article from orders where id = $1', [req.params.id]);
  if (rows.length > 0) res.json(rows[0]);
  else res.status(404).json({ error: 'Not confirmed yet.' });
});
app.get('/account', requireLogin(), (req, res) => {
  res.json(req.intent.user);
});
app.get('/whoami', (req, res) => {
  res.json({ address: req.ip, scheme: req.protocol, process: process.pid });
});

const server = createServer(app);
process.once('SIGTERM', async () => {
  await router.close();
  server.close();
});
async function start() {
  await router.ready();
  // Only nginx connects, over loopback.
  await once(server.listen(process.env.PORT ?? 3001, '127.0.0.1'), 'listening');
}
start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
