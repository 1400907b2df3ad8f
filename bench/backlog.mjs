// The option `--backlog` of capacity.mjs: how fast one process settles many paid payments that are due at once, as after an
// outage of the service. The ledger is in Postgres. The site and the service are processes.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { openPostgres } from '../build/ledger/database/postgres/postgres.js';
import { migrate } from '../build/ledger/migrations/migrate.js';
import { site } from './measure.mjs';
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';

/** The first interval between two polls, the default of a site. */
const watchFirstMs = 2_000;
const longestMs = 300_000;

const insert = `with given as (
    select n, 'payment' || lpad(translate(n::text, '0', 'x'), 36, 'y') as id from generate_series(1, $1::int) n),
  payments as (
    insert into express_intents.payments (intent_id, state, due_at, watch_until)
    select id, 'created', now() - n * interval '1 millisecond', now() + interval '30 days' from given)
  insert into express_intents.intents (id, kind, amount, currency, destination, browser)
  select id, 'payment', 4.5, 'usd', $2, '\\x07' from given`;

/**
 * Prints the rate of settled payments.
 * @param serviceMs the latency of the service
 * @param outageMs the service answers 503 for this time after the start of the site; measured from its end
 * @returns whether all payments were settled
 */
export async function settleBacklog({ payments, serviceMs, outageMs }) {
  const postgres = await startPostgres();
  const databaseUrl = await postgres.newDatabase();
  const database = await openPostgres({ url: databaseUrl });
  await migrate(database);
  await database.close();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query(insert, [payments, site.destination]);

  const [stub, server] = [startChild('./stub.mjs'), startChild('./server.mjs')];
  const service = { submitted: true, ms: serviceMs };
  await stub.call('configure', { ...service, isDown: outageMs > 0 });
  const { url } = await stub.call('addresses');
  await server.call('start', {
    module: 'ours',
    ...site,
    url,
    ledger: { url: databaseUrl },
    watchFirstMs,
    secret: 's'.repeat(40),
  });
  if (outageMs > 0) {
    await wait(outageMs);
    await stub.call('configure', service);
  }
  const startMs = performance.now();
  const { cpuUs: cpuBeforeUs } = await server.call('used');
  let settled = 0;
  while (settled < payments && performance.now() - startMs < longestMs) {
    await wait(100);
    const { rows } = await db.query(
      `select count(*)::int as settled from express_intents.payments where state = 'settled'`,
    );
    settled = rows[0].settled;
  }
  const tookMs = performance.now() - startMs;
  const cpuMs = ((await server.call('used')).cpuUs - cpuBeforeUs) / 1_000;
  const { maxActive, calls } = await stub.call('load');
  process.stdout.write(
    `${settled} of ${payments} settled in ${(tookMs / 1_000).toFixed(1)} s: ${Math.round((settled / tookMs) * 1_000)} per second; ` +
      `at most ${maxActive} concurrent calls, ${(calls / payments).toFixed(2)} calls per payment, ${(cpuMs / tookMs).toFixed(2)} cores\n`,
  );
  server.stop();
  stub.stop();
  await db.end();
  await postgres.stop();
  return settled === payments;
}
