import { deepStrictEqual } from 'node:assert';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createWallet, type Wallet } from 'express-intents/testing';
import { articles, priceOf } from './articles.js';
import { simulatorUrlOf, trimVariables } from './development-defaults.js';
import { shorten } from './pages/layout.js';
import { Visitor, type VisitorResponse } from './visitor.js';

/** Makes a payment and a login on a running shop, as a visitor with a wallet. */
async function play(): Promise<void> {
  const { shop, simulator } = addresses();
  console.log(`Playing against ${shop}. The wallet uses the simulator at ${simulator}.`);
  const visitor = new Visitor(shop);
  await step('The shop is open', async () => expectStatus(await visitor.get('/'), 200));
  const wallet = createWallet({ url: simulator, name: 'Ada' });
  await playPayment(visitor, wallet);
  await playLogin(visitor, wallet);
  console.log('\nAll steps passed.');
}

async function playPayment(visitor: Visitor, wallet: Wallet): Promise<void> {
  console.log('\nA payment');
  const [article] = articles.filter(({ slug }) => slug === 'pot-of-assam');
  if (!article) throw new Error('The shop has no article "pot-of-assam".');
  const order = { mode: 'payment', order: { article: article.slug } };
  const secret = await step(`Ordered ${article.name}`, async () => createIntent(visitor, order));
  const request = await step('The wallet scanned the code', () => wallet.scan(secret));
  await step(`The wallet shows ${priceOf(article)}, the price of the shop`, () => {
    deepStrictEqual([request.kind, request.amount, request.currency], ['payment', article.price, 'usd']);
  });
  await step('The status says: scanned, not submitted', () => expectFlags(visitor, request.id, true, false));
  await step('The thanks page says: order not confirmed yet', () => expectPayment(visitor, request.id, 'created'));
  await step('The wallet confirmed', () => wallet.pay(secret));
  await step('The status says: submitted', () => expectFlags(visitor, request.id, true, true));
  await step('The ledger settled it: the thanks page says paid', () => expectPayment(visitor, request.id, 'settled'));
}

async function playLogin(visitor: Visitor, wallet: Wallet): Promise<void> {
  console.log('\nA login');
  const secret = await step('Requested a login', () => createIntent(visitor, { mode: 'login' }));
  const { id, login } = await step('The wallet scanned the code', () => wallet.scan(secret));
  const domain = login?.domain ?? '';
  await step('POST /session is refused before the wallet confirms', async () => {
    expectStatus(await visitor.post('/session', { id }), 409);
  });
  await step(`The wallet confirmed for ${domain}`, () => wallet.login(secret));
  await step('The status says: submitted', () => expectFlags(visitor, id, true, true));
  const user = { id: wallet.userId(domain) };
  await step('POST /session logs in', async () => expectJson(await visitor.post('/session', { id }), 200, { user }));
  await step('The account page says hello', async () => {
    expectText(expectStatus(await visitor.get('/account'), 200), shorten(user.id));
  });
  await step('Logged out', async () => expectStatus(await visitor.delete('/session'), 204));
  await step('The session is empty', async () => expectJson(await visitor.get('/session'), 200, { user: null }));
  await step('The account page redirects to the login', async () => {
    const { headers } = expectStatus(await visitor.get('/account'), 303);
    deepStrictEqual(headers.get('location'), '/login');
  });
}

function addresses(): { shop: string; simulator: string } {
  const env = trimVariables(process.env);
  const { values } = parseArgs({ options: { shop: { type: 'string' }, simulator: { type: 'string' } } });
  const { shop = `http://127.0.0.1:${env.PORT || 3000}` } = values;
  const { simulator = simulatorUrlOf({ INTENT_SEQUENCER_URL: 'simulator', ...env }) } = values;
  return { shop: shop.replace(/\/+$/, ''), simulator };
}

async function step<Result>(name: string, act: () => Result | Promise<Result>): Promise<Result> {
  try {
    const result = await act();
    console.log(`  ✓ ${name}`);
    return result;
  } catch (error) {
    console.log(`  ✗ ${name}`);
    throw error;
  }
}

async function createIntent(visitor: Visitor, body: unknown): Promise<string> {
  const { json } = expectStatus(await visitor.post('/intent', body), 201);
  const { client_secret: secret, ...rest } = json as Record<string, unknown>;
  deepStrictEqual(rest, {}, 'The response has more fields than the client secret.');
  if (typeof secret !== 'string') throw new Error('The response has no client secret.');
  return secret;
}

async function expectFlags(visitor: Visitor, id: string, scanned: boolean, submitted: boolean): Promise<void> {
  const flags = { exists: true, code_scanned: scanned, intent_submitted: submitted };
  // The shop polls the sequencer at most every 250 ms.
  await eventually(async () => expectJson(await visitor.get(`/status/${id}`), 200, flags));
}

async function expectPayment(visitor: Visitor, id: string, state: string): Promise<void> {
  await eventually(async () => {
    expectText(expectStatus(await visitor.get(`/thanks/${id}`), 200), `data-payment="${state}"`);
  });
}

/** Retries a check for up to five seconds. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let retries = 100; ; retries -= 1) {
    try {
      return await check();
    } catch (error) {
      if (retries === 0) throw error;
      await setTimeout(50);
    }
  }
}

function expectJson(response: VisitorResponse, status: number, body: unknown): void {
  deepStrictEqual(expectStatus(response, status).json, body);
}

function expectText({ text }: VisitorResponse, expected: string): void {
  if (!text.includes(expected)) throw new Error(`The page does not contain ${JSON.stringify(expected)}.`);
}

function expectStatus(response: VisitorResponse, status: number): VisitorResponse {
  if (response.status === status) return response;
  throw new Error(`The shop answered ${response.status}, expected ${status}: ${response.text.slice(0, 300)}`);
}

/** `fetch` throws "fetch failed", with the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const refused = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
  if (refused) return 'Connection refused. Run `npm start` first, or pass the addresses with --shop and --simulator.';
  return error.message;
}

await play().catch((error: unknown) => {
  console.error(`\n${reasonOf(error)}`);
  process.exitCode = 1;
});
