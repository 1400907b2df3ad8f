import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PostgresStoreIndividualIP } from '@acpr/rate-limit-postgresql';
import connectPgSimple from 'connect-pg-simple';
import express from 'express';
import session from 'express-session';
import pg from 'pg';
import { createServer, type IntentRouterOptions, intentRouter, requireLogin } from '../../src/index.js';

// One process of a site that runs as several. What it needs comes from the environment, as for any site; it says in
// lines of JSON where it listens, and ends on SIGTERM as a site should.

const { FLEET_DATABASE = '', FLEET_NAME = '', FLEET_OPTIONS = '{}' } = process.env;
const options: Partial<IntentRouterOptions> & { limit?: number; sessions?: boolean } = JSON.parse(FLEET_OPTIONS);
const { limit, sessions = true, ...rest } = options;

const pool = new pg.Pool({ connectionString: FLEET_DATABASE, max: 4 });
pool.on('error', () => undefined);
const { user, host, port, database } = new pg.Client({ connectionString: FLEET_DATABASE });
const store = new PostgresStoreIndividualIP({ user, host, port, database }, 'intents');

const router = intentRouter({
  databaseUrl: FLEET_DATABASE,
  payment: (req) => ({ amount: '4.50', currency: 'usd', metadata: { order: req.body.order } }),
  onPaid: async ({ id }, { tx }) => {
    await tx.query('insert into public.fulfilled (intent_id, by) values ($1, $2)', [id, FLEET_NAME]);
  },
  rateLimits: limit === undefined ? false : { intent: limit, store },
  ...rest,
});

const app = express();
app.set('trust proxy', 'loopback');
app.use((_req, res, next) => {
  res.set('X-Process', FLEET_NAME);
  next();
});
if (sessions) {
  const PgStore = connectPgSimple(session);
  app.use(
    session({
      store: new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false }),
      secret: 'the same in all processes',
      resave: false,
      saveUninitialized: false,
    }),
  );
}
app.use(router);
app.get('/account', requireLogin(), (req, res) => {
  res.json({ user: req.intent.user.id });
});

await router.ready();
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));

process.on('SIGTERM', async () => {
  server.close();
  await router.close();
  server.closeIdleConnections();
  await pool.end();
});
