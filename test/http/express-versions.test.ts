import { once } from 'node:events';
import { createServer as plainServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ErrorRequestHandler, Express } from 'express';
import { parseConfig } from '../../src/config/config.js';
import {
  createServer,
  currentUser,
  type IntentRouter,
  intentRouter,
  requireLogin,
  requirePayment,
} from '../../src/index.js';
import { type Simulator, startSimulator } from '../../src/simulator/index.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import {
  destination,
  domain,
  type ExpressFactory,
  expressVersions,
  LogRecorder,
  verifierSecret,
} from '../support/sites/site.js';
import { holdTimeouts } from '../support/timeouts.js';

// One walk over every route and every guard, with both versions of Express and with Node's server and createServer. The
// responses must be the same all four times.

interface Seen {
  readonly request: string;
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
}

const combinations: [name: string, factory: ExpressFactory, serve: (app: Express) => Server][] = Object.entries(
  expressVersions,
).flatMap(([name, factory]) => [
  [`${name}, Node's server`, factory, (app) => plainServer(app)],
  [`${name}, createServer`, factory, (app) => createServer(app)],
]);

const closing: (() => Promise<unknown>)[] = [];
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => {
  for (const close of closing.splice(0)) await close();
  await simulator.close();
});

/** A site whose origin is known before its router exists. */
async function startSite(factory: ExpressFactory, serve: (app: Express) => Server) {
  const app = factory();
  const server = serve(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const router = intentRouter({
    ...{ login: { verifierSecret, domain }, destination, origin, logger: new LogRecorder() },
    ...{
      sequencer: { url: simulator.url },
      webhook: { publicKeys: [simulator.webhookPublicKey] },
      ledger: { url: await newDatabaseUrl('postgres') },
    },
    routes: { health: '/healthz' },
    payment: () => ({ amount: '4.50', currency: 'usd', resource: 'tea' }),
    onPaid: async () => undefined,
  });
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await router.close();
  });
  simulator.setLocalDomain(domain, origin);
  addPages(app, router);
  await router.ready();
  return { origin, router };
}

function addPages(app: Express, router: IntentRouter): void {
  app.use(router);
  const price = () => ({ resource: 'tea', amount: '4.50', currency: 'usd', order: 'tea' });
  app.get(
    '/account',
    requireLogin({ loginUrl: '/login' }),
    (req, res) => void res.json(req.intent.user.id.length > 30),
  );
  app.get(
    '/article',
    requirePayment(price, { payUrl: '/buy' }),
    (req, res) => void res.json(req.intent.payment.amount),
  );
  app.get(
    '/broken',
    requirePayment(() => Promise.reject(new Error('on purpose')), { payUrl: '/buy' }),
  );
  app.get('/', (req, res, next) => {
    currentUser(req).then((user) => void res.json(user !== undefined), next);
  });
  const showError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).json(error.message);
  app.use(showError);
}

/** A browser that records the responses. */
class Walker {
  readonly seen: Seen[] = [];
  readonly #browser: Browser;

  constructor(origin: string) {
    this.#browser = new Browser(origin);
  }

  async send(
    method: string,
    path: string,
    { body, headers }: { body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const answer = await this.#browser.send(method, path, body, headers);
    const type = answer.headers.get('content-type');
    const content = JSON.parse(JSON.stringify(/json/.test(type ?? '') ? answer.body : answer.headers.get('location')));
    const [line] = `${method} ${path}`.replace(/\b\w{43,44}\b/g, ':id').split('?');
    this.seen.push({
      request: line ?? '',
      status: answer.status,
      type,
      body: JSON.parse(
        JSON.stringify(content)
          .replace(/"\w{26,44}"/g, '"..."')
          .replace(/(request:)[\w-]{36}/g, '$1...')
          .replace(/("\w+MsAgo":)\d+/g, '$10')
          .replaceAll(this.#browser.origin, 'https://site'),
      ),
    });
    return { text: answer.body.text, content };
  }
}

const pageView = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

async function walk(origin: string, router: IntentRouter): Promise<readonly Seen[]> {
  const walker = new Walker(origin);
  const wallet = simulator.wallet('Ada');
  await walker.send('GET', '/.well-known/service-payments.json');
  await walker.send('GET', '/intent/v1/elements.js');
  await walker.send('GET', '/intent/v1/openapi.json');
  await walker.send('GET', '/healthz');
  await walker.send('GET', '/article');
  await walker.send('GET', '/article', { headers: pageView });
  const payment = await walker.send('POST', '/intent', { body: { mode: 'payment', order: 'tea' } });
  const { id } = await wallet.pay(payment.content.client_secret);
  const events = await walker.send('GET', `/intent/${id}/events`);
  expect(events.text).toContain('event: intent_submitted');
  await walker.send('GET', `/status/${id}`);
  await eventually(async () => expect((await router.intents.find(id))?.state).toBe('settled'));
  await walker.send('GET', '/article');
  await walker.send('GET', '/broken');
  await walker.send('GET', '/account');
  await walker.send('GET', '/account', { headers: pageView });
  const login = await walker.send('POST', '/intent', { body: { mode: 'login' } });
  await walker.send('POST', '/session', { body: { id: (await wallet.scan(login.content.client_secret)).id } });
  const confirmed = await wallet.login(login.content.client_secret);
  await walker.send('POST', '/session', { body: { id: confirmed.id } });
  await walker.send('GET', '/session');
  await walker.send('GET', '/account');
  await walker.send('GET', '/');
  await walker.send('DELETE', '/session');
  await walker.send('GET', '/session');
  await walker.send('POST', '/intent/webhook', { body: 'not a call of the service' });
  await walker.send('POST', '/intent', { body: { mode: 'payment' }, headers: { origin: 'https://evil.example' } });
  await walker.send('PUT', '/intent');
  await walker.send('GET', '/nowhere');
  return walker.seen;
}

describe('every route and guard', () => {
  const walks = new Map<string, readonly Seen[]>();

  it.each(combinations)('answers as expected with %s', async (name, factory, serve) => {
    // A busy machine may need more than the 0.8 s that a health check waits for the database.
    holdTimeouts(800);
    const { origin, router } = await startSite(factory, serve);
    const seen = await walk(origin, router);
    walks.set(name, seen);
    expect(seen.map(({ request, status }) => `${request} ${status}`)).toEqual([
      'GET /.well-known/service-payments.json 200',
      'GET /intent/v1/elements.js 200',
      'GET /intent/v1/openapi.json 200',
      'GET /healthz 200',
      'GET /article 402',
      'GET /article 303',
      'POST /intent 201',
      'GET /intent/:id/events 200',
      'GET /status/:id 200',
      'GET /article 200',
      'GET /broken 500',
      'GET /account 401',
      'GET /account 303',
      'POST /intent 201',
      'POST /session 409',
      'POST /session 200',
      'GET /session 200',
      'GET /account 200',
      'GET / 200',
      'DELETE /session 204',
      'GET /session 200',
      'POST /intent/webhook 415',
      'POST /intent 403',
      'PUT /intent 405',
      'GET /nowhere 404',
    ]);
  });

  it('answers the same with both versions and both servers', () => {
    const [first, ...others] = [...walks.values()].map((seen) => seen.slice(0, -1));
    expect(others).toHaveLength(3);
    for (const other of others) expect(other).toEqual(first);
  });

  it('is part of the walk', () => {
    const { routes } = parseConfig({ sequencer: { url: simulator.url }, login: false, routes: { health: '/healthz' } });
    const requested = [...walks.values()].flatMap((seen) => seen.map((one) => one.request.replace(/^\w+ /, '')));
    for (const path of Object.values(routes)) expect(requested.some((one) => one.startsWith(String(path)))).toBe(true);
  });
});
