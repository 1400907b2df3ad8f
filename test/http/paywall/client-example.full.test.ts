import type { ServerResponse } from 'node:http';
import { jest } from '@jest/globals';
import type { Request } from 'express';
import { requirePayment } from '../../../src/http/paywall/require-payment.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { type LedgerSite, startLedgerSite } from '../../support/sites/ledger-site.js';
import { serve } from '../../support/sites/serve.js';

// docs/examples/paywall/client.js against the simulator and its wallet.

interface Payable {
  readonly clientSecret: string;
  readonly amount: string;
  readonly currency: string;
  readonly resource: string;
}

interface ClientOptions {
  readonly origin: string;
  readonly maxAmount: string;
  readonly currency: string;
  readonly pay: (payment: Payable) => Promise<unknown>;
  readonly state?: object;
  readonly timeoutMs?: number;
}

interface PaywallClient {
  get(path: string): Promise<Response>;
  readonly state: object;
}

const { createPaywallClient } = (await import(
  new URL('../../../docs/examples/paywall/client.js', import.meta.url).href
)) as { createPaywallClient: (options: ClientOptions) => PaywallClient };

let site: LedgerSite;
/** What happens to the next `POST /intent`. */
let loseAnswer = false;
let posts = 0;

beforeAll(async () => {
  site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    payment: ({ body: { order } }: Request) => ({
      amount: order.startsWith('/lie') ? '5.00' : '0.50',
      currency: order.startsWith('/euro') ? 'eur' : 'usd',
      resource: order,
    }),
    before: (app) =>
      app.use((req, res, next) => {
        if (req.method !== 'POST') return next();
        posts += 1;
        if (!loseAnswer) return next();
        loseAnswer = false;
        const socket = req.socket;
        res.end = () => socket.destroy() as never;
        next();
      }),
    after: (app) => {
      const price = (req: Request) => (req.path.startsWith('/dear') ? '2.00' : '0.50');
      const paid = requirePayment((req) => {
        const terms = { resource: req.path, order: req.path };
        return req.path.startsWith('/euro') ? terms : { ...terms, amount: price(req), currency: 'usd' };
      });
      app.get(/^\/(tea|lie|dear|euro)/, paid, (req, res) => void res.send(`paid ${req.intent.payment.id}`));
      app.get('/free', (_req, res) => void res.send('free'));
    },
  });
});
beforeEach(() => {
  posts = 0;
});

const payments: Payable[] = [];
beforeEach(() => void payments.splice(0));

function clientOf(options: Partial<ClientOptions> = {}): PaywallClient {
  const wallet = site.simulator.wallet('Ada');
  const { pay = ({ clientSecret }: Payable) => wallet.pay(clientSecret), ...others } = options;
  return createPaywallClient({
    origin: site.origin,
    maxAmount: '1.00',
    currency: 'usd',
    ...others,
    pay: (payment) => {
      payments.push(payment);
      return pay(payment);
    },
  });
}

test('the client pays for a page once, and reads it again without a payment', async () => {
  const client = clientOf();
  expect(await (await client.get('/free')).text()).toBe('free');
  expect(payments).toEqual([]);
  expect(await (await client.get('/tea/1')).text()).toMatch(/^paid /);
  expect(payments).toEqual([expect.objectContaining({ amount: '0.50', currency: 'usd', resource: '/tea/1' })]);
  expect((await client.get('/tea/1')).status).toBe(200);
  const restarted = clientOf({ state: JSON.parse(JSON.stringify(client.state)) });
  expect((await restarted.get('/tea/1')).status).toBe(200);
  expect([payments.length, posts]).toEqual([1, 1]);
});

test('the client pays once for concurrent reads of a page, and keeps the access to each page', async () => {
  const client = clientOf();
  const paths = ['/tea/2', '/tea/2', '/tea/3', '/tea/2'];
  const statuses = await Promise.all(paths.map(async (path) => (await client.get(path)).status));
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(payments.map(({ resource }) => resource)).toEqual(['/tea/2', '/tea/3']);
  expect((await client.get('/tea/2')).status).toBe(200);
  expect(payments).toHaveLength(2);
});

test.each([
  ['a price above its maximum, before it creates an intent', '/dear/1', 0],
  ['a code above its maximum, whatever the announced price', '/lie/1', 1],
  ['a code in another currency', '/euro/1', 1],
])('the client refuses %s', async (_title, path, created) => {
  await expect(clientOf().get(path)).rejects.toMatchObject({ code: 'over_limit' });
  expect([payments.length, posts]).toEqual([0, created]);
});

test('the client pays the same code after its wallet failed', async () => {
  const wallet = site.simulator.wallet('Ada');
  let isFailing = true;
  const client = clientOf({
    pay: async ({ clientSecret }) => {
      if (isFailing) throw new Error('The wallet is offline.');
      await wallet.pay(clientSecret);
    },
  });
  await expect(client.get('/tea/4')).rejects.toThrow('The wallet is offline.');
  isFailing = false;
  expect((await client.get('/tea/4')).status).toBe(200);
  expect(payments[1]?.clientSecret).toBe(payments[0]?.clientSecret);
});

test('the client does not pay again if the wallet paid and reported a failure', async () => {
  const wallet = site.simulator.wallet('Ada');
  const client = clientOf({
    pay: async ({ clientSecret }) => {
      await wallet.pay(clientSecret);
      throw new Error('The answer of the wallet was lost.');
    },
  });
  await expect(client.get('/tea/5')).rejects.toThrow('lost');
  expect((await client.get('/tea/5')).status).toBe(200);
  expect(payments).toHaveLength(1);
});

test('the client repeats a creation whose answer was lost, with the same key', async () => {
  const client = clientOf();
  await client.get('/tea/6');
  loseAnswer = true;
  expect((await client.get('/tea/7')).status).toBe(200);
  expect([payments.length, posts]).toEqual([2, 3]);
  const { intents } = await site.router.intents.list({ limit: 100 });
  expect(intents.filter((one) => one.kind === 'payment' && one.resource === '/tea/7')).toHaveLength(1);
});

test('the client gives up after its timeout, and continues the purchase later', async () => {
  const wallet = site.simulator.wallet('Ada');
  const state = {};
  const [timeout, original] = [new AbortController(), AbortSignal.timeout.bind(AbortSignal)];
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (ms === 12_345 ? timeout.signal : original(ms)));
  const pay = (): Promise<never> => {
    timeout.abort();
    return new Promise(() => undefined);
  };
  const slow = clientOf({ state, timeoutMs: 12_345, pay });
  await expect(slow.get('/tea/8')).rejects.toMatchObject({ code: 'timeout' });
  const client = clientOf({ state, pay: ({ clientSecret }) => wallet.pay(clientSecret) });
  expect((await client.get('/tea/8')).status).toBe(200);
  expect(payments[1]?.clientSecret).toBe(payments[0]?.clientSecret);
});

test('the client sends no payment to another origin, and none without a route', async () => {
  const answers = [{ pay: { url: 'https://evil.example/intent' } }, {}];
  for (const answer of answers) {
    const origin = await serve((_req, res) => {
      res.writeHead(402, { 'content-type': 'application/problem+json' });
      res.end(JSON.stringify({ code: 'payment_required', amount: '0.50', currency: 'usd', ...answer }));
    });
    await expect(clientOf({ origin }).get('/tea')).rejects.toMatchObject({ code: 'not_payable' });
  }
  await expect(clientOf().get('//evil.example/')).rejects.toMatchObject({ code: 'not_payable' });
  expect(payments).toEqual([]);
});

/** A new code for each request, whatever its key. */
async function sendCode(res: ServerResponse): Promise<void> {
  const { account: destination } = site.simulator.wallet('Ada');
  const { clientSecret } = await site.router.createPayment({ amount: '0.50', currency: 'usd', destination });
  res.writeHead(201);
  res.end(JSON.stringify({ client_secret: clientSecret }));
}

test('the client pays only once in one get, whatever price or resource the site asks for next', async () => {
  let asked = 0;
  const origin = await serve(async (req, res) => {
    if (req.method === 'POST') return sendCode(res);
    asked += 1;
    res.writeHead(asked > 4 ? 200 : 402);
    const pay = { url: '/intent', mode: 'payment', order: asked };
    res.end(JSON.stringify({ pay, resource: `/tea/${asked}`, amount: '0.50', currency: 'usd' }));
  });
  await expect(clientOf({ origin }).get('/tea')).rejects.toMatchObject({ code: 'over_limit' });
  expect(payments).toHaveLength(1);
});

test('the client does not pay another code with the same key', async () => {
  const wallet = site.simulator.wallet('Ada');
  const origin = await serve(async (req, res) => {
    if (req.method === 'POST') return sendCode(res);
    res.writeHead(402);
    const pay = { url: '/intent', mode: 'payment' };
    res.end(JSON.stringify({ pay, resource: '/tea', amount: '0.50', currency: 'usd' }));
  });
  const client = clientOf({
    origin,
    pay: async ({ clientSecret }) => {
      await wallet.pay(clientSecret);
      throw new Error('The answer of the wallet was lost.');
    },
  });
  await expect(client.get('/tea')).rejects.toThrow('lost');
  await expect(client.get('/tea')).rejects.toMatchObject({ code: 'invalid_code' });
  expect(payments).toHaveLength(1);
});
