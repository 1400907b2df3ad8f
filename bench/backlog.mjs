// How fast one process settles a backlog: so many payments are open and due, all of them paid, as after an outage of the
// service. The site has its ledger in a real Postgres and runs in one process, the service in another.
//   node bench/backlog.mjs [--payments 10000] [--service-ms 50] [--outage-ms 0] [--settlement '{"looksAtOnce":48}']
// With `--outage-ms` the service answers 503 for that long after the start of the site; the time counts from its end. Needs
// a build.
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrate } from '../build/ledger/migrate.js';
import { openPostgres } from '../build/ledger/postgres.js';
import { startChild } from './child.mjs';
import { startPostgres } from './postgres.mjs';

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '10000' },
    'service-ms': { type: 'string', default: '50' },
    'outage-ms': { type: 'string', default: '0' },
    settlement: { type: 'string', default: '{}' },
  },
});
const payments = Number(values.payments);
const outageMs = Number(values['outage-ms']);

const insert = `insert into express_intents.intents
    (id, kind, amount, currency, destination, browser, state, due_at, watch_until)
  select 'payment' || lpad(translate(n::text, '0', 'x'), 36, 'y'), 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', '\\x07',
    'open', now() - n * interval '1 millisecond', now() + interval '30 days'
  from generate_series(1, $1::int) n`;

const postgres = await startPostgres();
const databaseUrl = await postgres.newDatabase();
const database = await openPostgres({ url: databaseUrl });
await migrate(database);
await database.close();
const db = new pg.Client({ connectionString: databaseUrl });
await db.connect();
await db.query(insert, [payments]);

const stub = startChild('./stub.mjs');
const service = { submitted: true, ms: Number(values['service-ms']) };
await stub.ask('behave', { ...service, isDown: outageMs > 0 });
const { url: sequencerUrl } = await stub.ask('addresses');
const site = startChild('./settle-server.mjs');
await site.ask('start', { sequencerUrl, databaseUrl, webhook: false, settlement: JSON.parse(values.settlement) });
if (outageMs > 0) {
  await wait(outageMs);
  await stub.ask('behave', service);
}
const startMs = performance.now();
const cpuBefore = await site.ask('cpuMs');
let settled = 0;
while (settled < payments && performance.now() - startMs < 300_000) {
  await wait(100);
  const { rows } = await db.query(
    `select count(*)::int as settled from express_intents.intents where state = 'settled'`,
  );
  settled = rows[0].settled;
}
const tookMs = performance.now() - startMs;
const cpuMs = (await site.ask('cpuMs')) - cpuBefore;
const { most, calls } = await stub.ask('load');
process.stdout.write(
  `${settled} of ${payments} settled in ${(tookMs / 1_000).toFixed(1)} s: ${Math.round((settled / tookMs) * 1_000)} a second; ` +
    `calls at once at the most ${most}, calls for each ${(calls / payments).toFixed(2)}, CPU of the site ${(cpuMs / tookMs).toFixed(2)} cores\n`,
);
site.stop();
stub.stop();
await db.end();
await postgres.stop();
process.exitCode = settled === payments ? 0 : 1;
