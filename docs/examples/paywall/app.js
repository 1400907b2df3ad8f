import { once } from 'node:events';
import express from 'express';
import { intentRouter, refuse, requirePayment } from 'express-intents';

const articles = new Map([['/articles/tea', { price: '0.50', text: 'Water just off the boil, four minutes.' }]]);
const articleAt = (path) => articles.get(path) ?? refuse('There is no such article.', 404);

/** The terms of an article, for both the guard and the payment. */
const terms = (path) => ({ resource: path, amount: articleAt(path).price, currency: 'usd' });

const app = express();
const router = intentRouter({ payment: (req) => terms(req.body.order) });
app.use(router, express.static('public', { extensions: ['html'] }));

const pathOf = (req) => req.baseUrl + req.path; // in a mounted sub-app too
const articleExists = (req, _res, next) => next(articles.has(pathOf(req)) ? undefined : 'route');
const paid = requirePayment((req) => ({ ...terms(pathOf(req)), order: pathOf(req) }), { payUrl: '/buy' });
app.get('/articles/:slug', articleExists, paid, (req, res) => {
  res.send(`${articleAt(pathOf(req)).text} (You have paid ${req.intent.payment.amount} for this.)`);
});

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const simulator = await router.ready();
  const port = process.env.PORT ?? 3000;
  await once(app.listen(port), 'listening');
  console.log(`The site is at http://localhost:${port}`);
  if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
}
start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
