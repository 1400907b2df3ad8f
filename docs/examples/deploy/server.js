import { once } from 'node:events';
import express from 'express';
import { createServer, intentRouter, refuse } from 'express-intents';
import { shutDownOnSigterm } from './shutdown.js';

const prices = new Map([
  ['tea', '4.50'],
  ['cup', '18.00'],
]);

const router = intentRouter({
  // Used by the container, the load balancer and the proxy.
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
// The number of proxies in front of the site.
app.set('trust proxy', 1);
app.use(router);

const server = createServer(app);
shutDownOnSigterm(server, router);
async function start() {
  await router.ready();
  await router.database.query('create table if not exists orders (id text primary key, article text not null)');
  await once(server.listen(process.env.PORT ?? 3000, process.env.HOST || '127.0.0.1'), 'listening');
}
start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
