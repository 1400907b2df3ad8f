// An Express app with the router in front, as the README shows it: every default is on.
import * as http from 'node:http';
import express from 'express';
import * as intents from '../../dist/index.js';

const never = Number.MAX_SAFE_INTEGER;

/** @param createServer `true` for the package's own `createServer`, which gives requests their prototypes beforehand */
export default async function ours({ url, domain, destination, verifierSeed, createServer = false, ...options }) {
  const app = express();
  const router = intents.intentRouter({
    sequencerUrl: url,
    verifierSecret: verifierSeed,
    domain,
    destination,
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    // Counted like any visitor's, but all of these come from one address.
    rateLimits: { intent: never, session: never, status: never },
    ...options,
  });
  app.use(router);
  app.get('/account', intents.requireLogin(), (req, res) => res.send(`Hello ${req.intent.user.id}`));
  app.get('/hello', (_req, res) => res.send('Hello'));
  await router.ready();
  return (createServer ? intents : http).createServer(app);
}
