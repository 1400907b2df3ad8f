// An Express app with the router in front, as the README shows it: every default is on.
import * as http from 'node:http';
import express from 'express';
import * as intents from '../../build/index.js';
import { composeRouter } from '../../build/router/intent-router.js';
import { routerLedger } from '../../build/router/ledger.js';

const never = Number.MAX_SAFE_INTEGER;

/**
 * @param createServer `true` for the package's own `createServer`, which gives requests their prototypes beforehand
 * @param watchFirstMs until the ledger looks whether a payment was paid; by default later than a benchmark lasts
 * @param before puts middlewares in front of the router
 */
export default async function ours({
  url,
  domain,
  destination,
  verifierSeed,
  createServer = false,
  watchFirstMs = 24 * 3_600_000,
  before,
  ...options
}) {
  const given = {
    sequencerUrl: url,
    walletUrl: 'https://wallet.example/open',
    verifierSecret: verifierSeed,
    domain,
    destination,
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    // Counted like any visitor's, but all of these come from one address.
    rateLimits: { intent: never, session: never, status: never },
    ...(options.databaseUrl && { onPaid: () => undefined }),
    ...options,
  };
  const router = composeRouter(given, (parts) => routerLedger(parts, { watchFirstMs }));
  const app = express();
  before?.(app);
  app.use(router);
  app.get('/account', intents.requireLogin(), (req, res) => res.send(`Hello ${req.intent.user.id}`));
  app.get('/hello', (_req, res) => res.send('Hello'));
  await router.ready();
  return (createServer ? intents : http).createServer(app);
}
