// The mode `--backlog` of capacity.mjs: how fast one process settles payments that are all open, due and paid, as after an
// outage of the service. The site has its ledger in a real Postgres and runs in one process, the service in another.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { openPostgres } from '../build/ledger/database/postgres/postgres.js';
import { migrate } from '../build/ledger/migrations/migrate.js';
import { startChild } from './child.mjs';
import { site } from './measure.mjs';
import { startPostgres } from './postgres.mjs';

/** The first interval between two looks, as sites have it. */
const watchFirstMs = 2_000;
const longestMs = 300_000;

const insert = `insert into express_intents.intents
    (id, kind, amount, currency, destination, browser, state, due_at, watch_until)
  select 'payment' || lpad(translate(n::text, '0', 'x'), 36, 'y'), 'payment', 4.5, 'usd', $2, '\\x07',
    'open', now() - n * interval '1 millisecond', now() + interval '30 days'
  from generate_series(1, $1::int) n`;

/**
 * Prints how many payments a second are settled.
 * @param thinksMs how long the service takes for each answer
 * @param outageMs the service answers 503 for that long after the start of the site, and the time counts from its end
 * @returns whether all were settled
 */
export async function settleBacklog({ payments, thinksMs, outageMs }) {
  const postgres = await startPostgres();
  const databaseUrl = await postgres.newDatabase();
  const database = await openPostgres({ url: databaseUrl });
  await migrate(database);
  await database.close();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query(insert, [payments, site.destination]);

  const [stub, server] = [startChild('./stub.mjs'), startChild('./server.mjs')];
  const service = { submitted: true, ms: thinksMs };
  await stub.ask('clearFaults', { ...service, isDown: outageMs > 0 });
  const { url } = await stub.ask('addresses');
  await server.ask('start', { module: 'ours', ...site, url, databaseUrl, watchFirstMs, secret: 's'.repeat(40) });
  if (outageMs > 0) {
    await wait(outageMs);
    await stub.ask('clearFaults', service);
  }
  const startMs = performance.now();
  const { cpuUs: cpuBeforeUs } = await server.ask('used');
  let settled = 0;
  while (settled < payments && performance.now() - startMs < longestMs) {
    await wait(100);
    const { rows } = await db.query(
      `select count(*)::int as settled from express_intents.intents where state = 'settled'`,
    );
    settled = rows[0].settled;
  }
  const tookMs = performance.now() - startMs;
  const cpuMs = ((await server.ask('used')).cpuUs - cpuBeforeUs) / 1_000;
  const { most, calls } = await stub.ask('load');
  process.stdout.write(
    `${settled} of ${payments} settled in ${(tookMs / 1_000).toFixed(1)} s: ${Math.round((settled / tookMs) * 1_000)} a second; ` +
      `calls at once at the most ${most}, calls for each ${(calls / payments).toFixed(2)}, CPU of the site ${(cpuMs / tookMs).toFixed(2)} cores\n`,
  );
  server.stop();
  stub.stop();
  await db.end();
  await postgres.stop();
  return settled === payments;
}
