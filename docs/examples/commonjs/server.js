// An existing app: CommonJS, Express 4, its own sessions. It needs no changes for the router.
const { randomBytes } = require('node:crypto');
const { once } = require('node:events');
const express = require('express');
const session = require('express-session');
const { intentRouter, refuse, requireLogin } = require('express-intents');

const prices = new Map([
  ['tea', '4.50'],
  ['cup', '18.00'],
]);

const router = intentRouter({
  payment: (req) => {
    const article = req.body.order;
    return {
      amount: prices.get(article) ?? refuse('We do not sell that.', 404),
      currency: 'usd',
      metadata: { article },
    };
  },
  onPaid: async (payment, { tx }) => {
    const sql = 'insert into orders (id, article) values ($1, $2) on conflict (id) do nothing';
    await tx.query(sql, [payment.id, payment.metadata.article]);
  },
});

const app = express();
// Mounted before the router, which stores logins in this session.
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
  }),
);
app.use(router);
app.use(express.static('public'));
app.get('/orders/:id', (req, res, next) => {
  router.database.query('select article from orders where id = $1', [req.params.id]).then(({ rows }) => {
    if (rows.length > 0) res.json(rows[0]);
    else res.status(404).json({ error: 'Not confirmed yet.' });
  }, next);
});
app.get('/account', requireLogin(), (req, res) => {
  res.json(req.intent.user);
});

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const simulator = await router.ready();
  await router.database.query('create table if not exists orders (id text primary key, article text not null)');
  const port = process.env.PORT ?? 3000;
  await once(app.listen(port), 'listening');
  console.log(`The site is at http://localhost:${port}`);
  if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
}

start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
