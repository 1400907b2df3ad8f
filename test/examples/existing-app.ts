import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { Express, RequestHandler } from 'express';
import type { IntentRouter } from 'express-intents';
import { advanceTime, type Simulator, sameOriginHeaders, startSimulator, waitForIntent } from 'express-intents/testing';
import pg from 'pg';
import request from 'supertest';
import { ConsumerProject } from '../package/consumer-project.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { ExampleProject } from './example-project.js';

/** The app of docs/examples/existing-app in this process, with a Postgres server and a sequencer. */
export interface ExistingApp {
  readonly origin: string;
  readonly simulator: Simulator;
  readonly router: IntentRouter;
  readonly pool: pg.Pool;
  /** Creates an account with a password. */
  createAccount(pool: pg.Pool, account: { email: string; password: string }): Promise<void>;
  close(): Promise<void>;
}

interface Example {
  createApp(options: object): { app: Express; router: IntentRouter };
  createTables(pool: pg.Pool): Promise<void>;
  createAccount: ExistingApp['createAccount'];
}

/**
 * Copies the example, so that it uses the packed package, and starts it.
 * @param log the middleware in the place of morgan
 */
export async function startExistingApp(log: RequestHandler = (_req, _res, next) => next()): Promise<ExistingApp> {
  const home = await ConsumerProject.create();
  const { folder } = new ExampleProject('existing-app', home);
  const load = (file: string) => import(pathToFileURL(`${folder}/${file}`).href);
  const { createApp } = (await load('app.js')) as Pick<Example, 'createApp'>;
  const { createTables } = (await load('tables.js')) as Pick<Example, 'createTables'>;
  const { createAccount } = (await load('accounts.js')) as Pick<Example, 'createAccount'>;
  const databaseUrl = await newDatabaseUrl('postgres');
  const simulator = await startSimulator();
  const pool = new pg.Pool({ connectionString: databaseUrl });
  // The server of this test file may end first.
  pool.on('error', () => undefined);
  const options = simulator.siteOptions({ ledger: { url: databaseUrl }, logger: false });
  const { app, router } = createApp({ pool, log, ...options });
  await router.ready();
  await createTables(pool);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    await router.close();
    server.closeAllConnections();
    server.close();
    await pool.end();
    await simulator.close();
    home.remove();
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    simulator,
    router,
    pool,
    createAccount,
    close,
  };
}

/** A browser that keeps cookies, submits forms and has a wallet. */
export class ShopVisitor {
  readonly #site: ExistingApp;
  readonly #agent: ReturnType<typeof request.agent>;

  constructor(site: ExistingApp) {
    this.#site = site;
    this.#agent = request.agent(site.origin).set(sameOriginHeaders);
  }

  /** Requests a page as a browser does. */
  view(path: string): request.Test {
    return this.#agent.get(path).set('accept', 'text/html');
  }

  async page(path: string): Promise<string> {
    return (await this.view(path).expect(200)).text;
  }

  /** Where a page view leads to. */
  async redirectOf(path: string): Promise<string | undefined> {
    return (await this.view(path)).headers.location;
  }

  /** Submits a form of the page `from`, with its CSRF token. @returns the page that it leads to */
  async submit(from: string, action: string, fields: object = {}): Promise<string> {
    const [, token] = /name="_csrf" value="([^"]+)"/.exec(await this.page(from)) ?? [];
    const response = await this.#agent
      .post(action)
      .type('form')
      .send({ ...fields, _csrf: token });
    expect([response.status, response.text]).toEqual([302, expect.anything()]);
    return response.headers.location ?? '';
  }

  logInByPassword(): Promise<string> {
    return this.submit('/login', '/login', { email: 'ada@example.com', password: 'tea' });
  }

  /** Adds an item to the basket and orders it. @returns the path of the order */
  async order(item: string): Promise<string> {
    await this.submit('/', '/basket', { item });
    return this.submit('/basket', '/orders');
  }

  async createIntent(body: object): Promise<string> {
    return (await this.#agent.post('/intent').send(body).expect(201)).body.client_secret;
  }

  /** Pays with Ada's wallet, until the payment is settled. @returns the id of the intent */
  async pay(order: string): Promise<string> {
    const { id } = await this.#site.simulator.wallet('Ada').pay(await this.createIntent({ mode: 'payment', order }));
    await waitForIntent(this.#site.router, id, 'settled');
    return id;
  }

  /** Logs in, or with `link` links the wallet to the account. @returns the status */
  async logIn(name: string, how?: 'link'): Promise<number> {
    return this.complete(await this.confirmLogin(name, how), 'once');
  }

  /** Begins a login that the wallet confirms. @returns the id of the intent */
  async confirmLogin(name: string, how?: 'link'): Promise<string> {
    const order = how && (await this.linkOrder());
    const { id } = await this.#site.simulator.wallet(name).login(await this.createIntent({ mode: 'login', order }));
    return id;
  }

  /** The order of the button "Link a wallet". */
  async linkOrder(): Promise<unknown> {
    const [, order = ''] = /<intent-button mode="login" order="([^"]+)"/.exec(await this.page('/account')) ?? [];
    const text = order.replaceAll('&quot;', '"');
    return text.startsWith('{') ? JSON.parse(text) : text;
  }

  /** Completes a login. @returns the status */
  async complete(id: string, idempotencyKey: string): Promise<number> {
    return (await this.#agent.post('/session').set('idempotency-key', idempotencyKey).send({ id })).status;
  }

  /** The wallet that is logged in. */
  async user(): Promise<{ id: string } | null> {
    return (await this.#agent.get('/session')).body.user;
  }

  /** The same browser, before it receives the next response. */
  copy(): ShopVisitor {
    const copy = new ShopVisitor(this.#site);
    const access = { domain: '127.0.0.1', path: '/', secure: false, script: false };
    const cookies = this.#agent.jar.getCookies(access as never).toValueString();
    copy.#agent.jar.setCookies(cookies.split(';'), '127.0.0.1');
    return copy;
  }
}

/** The id of the order at a path. */
export const orderOf = (path: string): string => path.split('/')[2] ?? '';

export const minute = 60_000;

/** Advances the time of the app. */
export const advance = ({ simulator, router }: ExistingApp, ms: number) => advanceTime(ms, { simulator, router });
