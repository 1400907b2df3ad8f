import { createWallet } from 'express-intents/testing';
import { createPaywallClient } from './client.js';

// A program that buys an article of app.js, with a simulated wallet.
const { PORT = 3000, INTENT_SIMULATOR_PORT = 4747 } = process.env;
const wallet = createWallet({ url: `http://localhost:${INTENT_SIMULATOR_PORT}`, name: 'Ada' });

const client = createPaywallClient({
  origin: `http://localhost:${PORT}`,
  maxAmount: '1.00',
  currency: 'usd',
  pay: ({ clientSecret }) => wallet.pay(clientSecret),
});

const article = await client.get('/articles/tea');
console.log(article.status, await article.text());
