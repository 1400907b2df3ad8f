import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import { intentRouter, requirePayment } from '../../../src/index.js';

// One process of a shop with several, which share database, secrets and service. Prints its origin.

const { databaseUrl, sequencerUrl, verifierSecret, destination, domain, loginTtlMs } = JSON.parse(
  process.argv[2] ?? '{}',
) as Record<'databaseUrl' | 'sequencerUrl' | 'verifierSecret' | 'destination' | 'domain', string> & {
  loginTtlMs: number;
};

const prices: Readonly<Record<string, string>> = { kettle: '48.00', pot: '48.00', sugar: '0.05' };

const app = express();
interface Order {
  readonly article: string;
  readonly number?: number;
  readonly gives?: string;
  readonly currency?: string;
}

const router = intentRouter({
  ledger: { url: databaseUrl },
  login: { verifierSecret, domain, ttlMs: loginTtlMs },
  destination,
  button: { walletUrl: 'https://wallet.example/open' },
  // The sequencer answers late on a busy machine.
  sequencer: { url: sequencerUrl, timeoutMs: 160_000 },
  // The whole attack comes from one address.
  limits: { requests: false },
  payment: (req) => {
    const { order } = req.body as { order: Order };
    return {
      amount: order.gives ?? prices[order.article] ?? '999',
      currency: order.currency ?? 'usd',
      resource: order.article,
      metadata: { order: order.number },
    };
  },
  onPaid: async ({ id, metadata }, { tx }) => {
    await tx.query('insert into fulfilled (intent, order_number) values ($1, $2)', [id, metadata.order]);
  },
});
/** The price of the page of an article. */
function priceOf(req: Request) {
  const article = String(req.params.article);
  return { resource: article, amount: prices[article], currency: 'usd' };
}

app.use(router);
app.get('/goods/:article', requirePayment(priceOf), (req, res) => void res.json({ paid: req.intent.payment.id }));
await router.ready();
const server = createServer(app).listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
