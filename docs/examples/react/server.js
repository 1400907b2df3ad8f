import { once } from 'node:events';
import express from 'express';
import { intentRouter, refuse } from 'express-intents';

const cents = new Map([['tea', 450]]);

const app = express();
const router = intentRouter({
  payment: ({ body: { order } }) => {
    const { article, quantity } = order ?? {};
    const price = cents.get(article) ?? refuse('There is no such article.', 404);
    if (![1, 2, 3].includes(quantity)) refuse('You can buy one to three.');
    return { amount: ((price * quantity) / 100).toFixed(2), currency: 'usd', metadata: { article, quantity } };
  },
  onPaid: ({ metadata }) => console.log('paid', metadata),
});
app.use(router, express.static('dist'));

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
