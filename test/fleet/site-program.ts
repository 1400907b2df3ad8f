import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PostgresStoreIndividualIP } from '@acpr/rate-limit-postgresql';
import connectPgSimple from 'connect-pg-simple';
import express from 'express';
import session from 'express-session';
import pg from 'pg';
import { createServer, type IntentRouterOptions, intentRouter, requireLogin, requirePayment } from '../../src/index.js';
import { eventually } from '../support/eventually.js';

// One process of a site of several. It is configured by the environment, prints its address as a line of JSON, and shuts down
// on SIGTERM.

const { FLEET_DATABASE = '', FLEET_NAME = '', FLEET_OPTIONS = '{}', PORT = '0' } = process.env;
const options: Partial<IntentRouterOptions> & { limit?: number; sessions?: boolean; storeTimeoutMs?: number } =
  JSON.parse(FLEET_OPTIONS);
const isRecorded = FLEET_DATABASE !== '';
const { limit, sessions = isRecorded, storeTimeoutMs = 60_000, ...rest } = options;

// A store without a timeout would block visitors.
const bounds = { connectionTimeoutMillis: storeTimeoutMs, query_timeout: storeTimeoutMs };
const pool = new pg.Pool({ connectionString: FLEET_DATABASE, max: 4, ...bounds });
pool.on('error', () => undefined);
/**
 * Its constructor creates the tables, without a timeout: on a busy machine a failure would end the process. Without an error
 * listener the pool would end the process when an idle connection breaks.
 */
class SharedStore extends PostgresStoreIndividualIP {
  override init(...options: Parameters<PostgresStoreIndividualIP['init']>): void {
    Object.assign(this.config, bounds);
    super.init(...options);
    this.pool.on('error', () => undefined);
  }
}
const limitConnections = `limits of ${FLEET_NAME}`;
const sharedLimit = (intent: number) => {
  const { user, host, port, database } = new pg.Client({ connectionString: FLEET_DATABASE });
  return {
    requests: { intent, session: 1_000 },
    store: new SharedStore({ user, host, port, database, max: 2, application_name: limitConnections }, 'intents'),
  };
};

const router = intentRouter({
  payment: (req) => ({
    amount: '4.50',
    currency: 'usd',
    resource: 'article',
    metadata: { order: (req.body as { order?: string }).order ?? null },
  }),
  ...(isRecorded && {
    ledger: { url: FLEET_DATABASE },
    onPaid: async ({ id }, { tx }) => {
      await tx.query('insert into public.fulfilled (intent_id, by) values ($1, $2)', [id, FLEET_NAME]);
    },
  }),
  button: { walletUrl: 'https://wallet.example/open' },
  routes: { health: '/healthz' },
  // A slow sequencer on a busy machine must not fail these tests.
  sequencer: { timeoutMs: 160_000 },
  limits: limit === undefined ? { requests: false } : sharedLimit(limit),
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
      store: new PgStore({ pool, pruneSessionInterval: false }),
      secret: 'the same in all processes',
      resave: false,
      saveUninitialized: false,
    }),
  );
}
app.use(router);
app.get('/article', requirePayment({ resource: 'article' }), (_req, res) => {
  res.json({ process: FLEET_NAME });
});
app.get('/account', requireLogin(), (req, res) => {
  res.json({ user: req.intent.user.id });
});

/** The store changes its tables when it is created. An outage during that would end the process. */
async function limitsReady(): Promise<void> {
  const client = new pg.Client({ connectionString: FLEET_DATABASE });
  client.on('error', () => undefined);
  await client.connect();
  const question = `select to_regproc('rate_limit.ind_increment') is not null and not exists
    (select from pg_stat_activity where application_name = $1) as ready`;
  await eventually('the tables of the limits are there', async () => {
    return (await client.query(question, [limitConnections])).rows[0].ready;
  });
  await client.end();
}

await router.ready();
if (limit !== undefined) await limitsReady();
const server = createServer(app).listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));

process.on('SIGTERM', async () => {
  await router.close();
  server.close(() => pool.end());
});
