import express from 'express';
import { intentRouter, refuse, requirePayment } from 'express-intents';

const articles = new Map([['/articles/tea', { price: '0.50', text: 'Water just off the boil, four minutes.' }]]);
const articleAt = (path) => articles.get(path) ?? refuse('There is no such article.', 404);

/** The terms of an article, for both the guard and the payment. */
const terms = (path) => ({ resource: path, amount: articleAt(path).price, currency: 'usd' });

const app = express();
const router = intentRouter({ payment: (req) => terms(req.body.order) });
app.use(router, express.static('public', { extensions: ['html'] }));

const paid = requirePayment((req) => ({ ...terms(req.path), order: req.path }), { payUrl: '/buy' });
app.get('/articles/:slug', paid, (req, res) => {
  res.send(`${articleAt(req.path).text} (You have paid ${req.payment.amount} for this.)`);
});

console.log('Opening the database. The first start takes a few seconds.');
const embedded = await router.ready();
const port = process.env.PORT ?? 3000;
app.listen(port);
console.log(`The site is at http://localhost:${port}`);
if (embedded) console.log(`The simulated wallet is at ${embedded.walletUrl}`);
