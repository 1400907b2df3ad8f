// Real sites with the built package and all routes, and a service that responds to every call with OK and records changes.
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express from 'express';
import session from 'express-session';
import express4 from 'express4';
import { createServer, intentRouter, requireLogin, requirePayment } from '../../../build/index.js';
import { formatBase58 } from '../../../build/keys/base58.js';
import { encode, v1 } from '../../../build/wire/codec.js';

export const ownOrigin = 'https://shop.example';
/** Texts that no response may contain. */
export const canaries = {
  verifierSecret: formatBase58(new Uint8Array(32).fill(0xca)),
  secret: 'canary-of-the-cookie-secret-0123456789',
  appSecret: 'canary-of-the-session-secret',
  upstream: 'canary-of-the-service',
};

const answers = {
  getLoginForThirdPartyApp: encode(v1.GetLoginForThirdPartyAppResponse, {
    userId: { value: new Uint8Array(32).fill(7) },
  }),
  getStatus: encode(v1.GetStatusResponse, { exists: true, codeScanned: true }),
};

/** The connection of the current request: its two ports. */
const currentConnection = new AsyncLocalStorage();

/** A service that responds to every call with OK, and reports each change with the connection that caused it. */
function reportingService(onChange) {
  return {
    async call({ method }) {
      if (method === 'createIntent') onChange(currentConnection.getStore());
      return answers[method] ?? new Uint8Array();
    },
    async close() {},
  };
}

const variants = [
  { factory: express, options: { payment: () => ({ amount: 5, currency: 'usd' }) } },
  { factory: express4, options: { clientAmount: { min: 1, max: 9, currency: 'usd' } }, before: withSessions },
  {
    factory: express,
    options: { payment: lookUp },
    isPlain: true,
    before: (app) => app.use(express.json(), express.text({ type: 'application/jwt' })),
  },
  { factory: express, options: { payment: lookUp }, hasLedger: true },
];

function withSessions(app) {
  app.set('trust proxy', 1);
  app.use(session({ secret: canaries.appSecret, resave: false, saveUninitialized: true }));
}

/** The prices of a site that reads the request and rejects unknown goods. */
function lookUp(req) {
  const { order } = req.body;
  if (order === 'refused') throw Object.assign(new Error('We do not sell that.'), { status: 404, expose: true });
  return {
    amount: '4.50',
    currency: 'usd',
    login: order === 'with-login',
    resource: 'tea',
    metadata: { order: order ?? null },
  };
}

/**
 * Starts the sites. `webhookPublicKey` verifies their webhooks, and `plant` adds a fault. `onChange` gets the ports of the
 * connection, such as `45678 51234` (first the one of the site).
 */
export async function startSites({ webhookPublicKey, plant, onChange }) {
  const sites = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'express-intents-fuzz-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const { factory, options, before, isPlain, hasLedger } of variants) {
    // Planted faults are found without a database, which takes seconds to create.
    if (hasLedger && plant) continue;
    const service = reportingService(onChange);
    const log = [];
    const note = (...line) => void log.push(line);
    const app = factory();
    app.disable('x-powered-by');
    app.use((req, _res, next) => currentConnection.run(`${req.socket.localPort} ${req.socket.remotePort}`, next));
    before?.(app);
    const router = intentRouter({
      ...options,
      sequencer: { transport: service },
      ...(hasLedger && { ledger: { url: folder } }),
      origin: ownOrigin,
      login: { domain: 'shop.example', verifierSecret: canaries.verifierSecret },
      destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
      secret: canaries.secret,
      webhook: { publicKeys: [webhookPublicKey] },
      // All requests come from one address.
      limits: { requests: false },
      logger: { warn: note, error: note },
    });
    plant?.(app, service);
    app.use(router);
    app.get('/account', requireLogin({ loginUrl: '/login' }), (req, res) => res.send(`in ${req.intent.user.id}`));
    if (hasLedger)
      app.get(
        '/goods',
        requirePayment(() => ({ resource: 'tea' }), { payUrl: '/buy' }),
        (_req, res) => res.send('tea'),
      );
    // Like an app, which keeps details of errors to itself.
    app.use((error, _req, res, _next) => void res.status(error.status ?? 500).json({ app: 'error' }));
    await router.ready();
    const server = isPlain ? createPlainServer(app) : createServer(app);
    // On a busy machine a client may send its next request only after the default of 5 s.
    server.keepAliveTimeout = 60_000;
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    sites.push({ port: server.address().port, log, router, server, isPlain });
  }
  return sites;
}
