import path from 'node:path';
import type { Express } from 'express';
import { type Simulator, startSimulator } from 'express-intents/testing';
import { createShop, type Shop } from '../../example-app/dist/shop.js';
import { Visitor } from '../../example-app/dist/visitor.js';
import { copyEmptyData } from '../support/databases/embedded-template.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { serve } from '../support/sites/serve.js';
import { destination, domain, LogRecorder, verifierSecret } from '../support/sites/site.js';

// The tests use the built shop and the built package.

export interface OpenShop {
  readonly app: Express;
  readonly origin: string;
  readonly router: Shop['router'];
  readonly simulator: Simulator;
  readonly log: LogRecorder;
}

const shops: Shop[] = [];
const simulators: Simulator[] = [];

/** A folder with an empty database, which is faster than creating one. */
export async function ledgerFolder(): Promise<string> {
  const folder = temporaryFolder();
  await copyEmptyData(path.join(folder, 'data'));
  return folder;
}

/** A shop on a free port, with its own database and its own sequencer on another port. */
export async function openShop({ database = ledgerFolder } = {}): Promise<OpenShop> {
  const simulator = await startSimulator();
  simulators.push(simulator);
  const log = new LogRecorder();
  // A busy machine can take long to answer.
  const intents = {
    sequencer: { url: simulator.url, timeoutMs: 160_000 },
    login: { verifierSecret, domain },
    destination,
    logger: log,
    button: { walletUrl: simulator.walletUrl },
    ledger: { url: await database() },
  };
  const shop = createShop({ intents });
  shops.push(shop);
  const origin = await serve(shop.app);
  simulator.setLocalDomain(domain, origin);
  await shop.ready();
  return { app: shop.app, router: shop.router, origin, simulator, log };
}

/** The text of the thanks page, and the state of the payment in it. */
export async function thanksOf(visitor: Visitor, id: string): Promise<{ state: string | undefined; text: string }> {
  const { text } = await visitor.get(`/thanks/${id}`);
  return { state: /data-payment="(\w+)"/.exec(text)?.[1], text };
}

/** Polls like the script of the thanks page until the state matches. Returns the page. */
export async function thanked(visitor: Visitor, id: string, state = 'settled'): Promise<string> {
  await eventually(async () => {
    await visitor.get(`/status/${id}`);
    expect((await thanksOf(visitor, id)).state).toBe(state);
  });
  return (await thanksOf(visitor, id)).text;
}

export interface Begun {
  readonly secret: string;
  readonly id: string;
}

/** Creates an intent, as the buttons of the pages do. */
export async function begin(visitor: Visitor, body: unknown): Promise<Begun> {
  const { status, json } = await visitor.post('/intent', body);
  expect(status).toBe(201);
  const { client_secret: secret } = json as { client_secret: string };
  return { secret, id: intentIdOf(secret) };
}

export const order = (article: string) => ({ mode: 'payment', order: { article } });

/** A visitor who is logged in with the wallet of that name. */
export async function loggedIn({ origin, simulator }: OpenShop, name = 'Ada'): Promise<Visitor> {
  const visitor = new Visitor(origin);
  const { secret, id } = await begin(visitor, { mode: 'login' });
  await simulator.wallet(name).login(secret);
  expect((await visitor.post('/session', { id })).status).toBe(200);
  return visitor;
}

afterAll(async () => {
  for (const { router } of shops.splice(0)) await router.close();
  for (const simulator of simulators.splice(0)) await simulator.close();
});
