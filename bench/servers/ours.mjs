// An Express app with the router, as in the README, with all defaults.
import * as http from 'node:http';
import express from 'express';
import * as intents from '../../build/index.js';
import { composeRouter } from '../../build/router/intent-router.js';
import { routerLedger } from '../../build/router/ledger.js';

const never = Number.MAX_SAFE_INTEGER;

/**
 * @param createServer whether to use `createServer` of the package
 * @param usesSodium whether to call `useSodium`
 * @param watchFirstMs until the first poll of the ledger; by default after the end of the benchmark
 * @param answersLate whether a timeout middleware answers requests with the query `late`, and then still calls the router
 */
export default async function ours({
  url,
  domain,
  destination,
  verifierSeed,
  createServer = false,
  usesSodium = false,
  watchFirstMs = 24 * 3_600_000,
  answersLate = false,
  streams = {},
  ...options
}) {
  const given = {
    sequencer: { url },
    button: { walletUrl: 'https://wallet.example/open' },
    login: { verifierSecret: verifierSeed, domain },
    destination,
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    // All requests come from one address.
    limits: { requests: { intent: never, session: never, status: never }, streams },
    ...(options.ledger && { onPaid: () => undefined }),
    ...options,
  };
  if (usesSodium) intents.useSodium((await import('sodium-native')).default);
  const router = composeRouter(given, (parts) => routerLedger(parts, { watchFirstMs }));
  const app = express();
  if (answersLate) app.use(timeoutMiddleware);
  app.use(router);
  app.get('/hello', (_req, res) => res.send('Hello'));
  await router.ready();
  return (createServer ? intents : http).createServer(app);
}

function timeoutMiddleware(req, res, next) {
  if (req.query.late === undefined) return next();
  res.once('close', () => next());
  res.status(503).end();
}
