// Measures the cost of each operation of a site, in its process and in Postgres: the constants of scaling-model.mjs.
//   npm run bench:capacity [-- --rounds 4 --ms 3000 --warm-ms 3000 --clients 5000 --out bench/results]
//   npm run bench:capacity -- --backlog 10000 [--service-ms 50 --outage-ms 5000]    see backlog.mjs
// Requires a build. Prints and writes capacity.json.

import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openPostgres } from '../build/ledger/database/postgres/postgres.js';
import { pruneIntents } from '../build/ledger/intents/prune-intents.js';
import { settleBacklog } from './backlog.mjs';
import {
  countDatabaseWork,
  measureIdle,
  measureRate,
  pollsPerSecond,
  startFleet,
  startUpstream,
  stopFleet,
  warmUp,
} from './fleet-measure.mjs';
import { medianOf } from './statistics.mjs';
import { measureStreams, streamVariants } from './streams.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    ms: { type: 'string', default: '3000' },
    'warm-ms': { type: 'string', default: '3000' },
    clients: { type: 'string', default: '5000' },
    backlog: { type: 'string' },
    'service-ms': { type: 'string', default: '50' },
    'outage-ms': { type: 'string', default: '0' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results') },
  },
});
if (values.backlog !== undefined) {
  const [payments, serviceMs, outageMs] = ['backlog', 'service-ms', 'outage-ms'].map((name) => Number(values[name]));
  process.exit((await settleBacklog({ payments, serviceMs, outageMs })) ? 0 : 1);
}
const [rounds, ms, warmMs, clients] = ['rounds', 'ms', 'warm-ms', 'clients'].map((name) => Number(values[name]));

/** Per second. Each rate uses about a third of a core. */
const rates = { payment: 250, login: 150, status: 700, poll: 400, settle: 150 };
/** The latency of the service while polls are counted. */
const serviceMs = 50;
/** The default of the option. */
const settlementConcurrency = 24;
/** The number of operations whose work in the database is counted. */
const countedOperations = 500;
/** Payments that are due at once. */
const duePayments = 2_000;

const upstream = startUpstream();
const fleet = await startFleet(1, upstream);
await warmUp(fleet, Object.keys(rates), warmMs);

const samples = Object.fromEntries(['idle', ...Object.keys(rates)].map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  samples.idle.push(await measureIdle(fleet, ms));
  for (const [workload, perSecond] of Object.entries(rates)) {
    samples[workload].push(await measureRate(fleet, workload, { ms, perSecond }));
  }
}
const round = (value) => Number(Math.max(0, value).toPrecision(3));
const constants = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => [
    name,
    Object.fromEntries(Object.keys(list[0]).map((key) => [key, round(medianOf(list, key))])),
  ]),
);

const { status: _untouched, ...counted } = rates;
for (const [workload, each] of Object.entries(await countDatabaseWork(fleet, counted, countedOperations))) {
  for (const [name, value] of Object.entries(each)) constants[workload][name] = round(value);
}
Object.assign(constants.status, { transactions: 0, deadRows: 0, walBytes: 0 });

/** The cost of a NOTIFY in Postgres, by the number of listening connections. */
async function notifications(listeners, forMs = 1_000) {
  const { postgres } = fleet;
  const connect = async () => {
    const client = new pg.Client({ connectionString: postgres.url('bench_1') });
    await client.connect();
    return client;
  };
  const listening = await Promise.all(Array.from({ length: listeners }, connect));
  for (const client of listening) await client.query('listen bench');
  const notifiers = await Promise.all(Array.from({ length: 4 }, connect));
  const [cpuBeforeMs, endMs] = [postgres.cpuMs(), performance.now() + forMs];
  let sent = 0;
  const notify = async (client) => {
    for (; performance.now() < endMs; sent += 1) await client.query(`select pg_notify('bench', $1)`, [String(sent)]);
  };
  await Promise.all(notifiers.map(notify));
  await wait(200);
  const cpuUs = ((postgres.cpuMs() - cpuBeforeMs) * 1_000) / sent;
  for (const client of [...listening, ...notifiers]) await client.end();
  return { listeners, postgresUs: round(cpuUs), perSecond: round(sent / (forMs / 1_000)) };
}

/** Bytes on disk with indexes and history: of an intent that was polled for some time, and of a settled one. */
const bytes = { open: 1_535, settled: 2_850 };

/** The cost of pruning one intent. */
async function measurePruning() {
  const { client, postgres } = fleet;
  await client.query(`with added as (
      insert into express_intents.intents
        (id, kind, amount, currency, destination, metadata, browser, idempotency_key, fingerprint, sealed_secret, created_at)
      select translate(encode(sha256(n::text::bytea), 'base64'), '+/=', ''), 'payment', 4.5, 'usd',
        'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', '{"order": 42}', sha256(n::text::bytea), gen_random_uuid()::text,
        sha256(n::text::bytea), repeat('s', 150), now() - interval '99 days' from generate_series(1, 20000) n
      returning id, created_at)
    insert into express_intents.payments (intent_id, state, created_at, watch_until)
    select id, 'expired', created_at, created_at from added`);
  const db = await openPostgres({ url: postgres.url('bench_1') });
  const before = postgres.cpuMs();
  const pruned = await pruneIntents(db, { olderThan: new Date(Date.now() - 90 * 86_400_000) });
  const postgresUs = ((postgres.cpuMs() - before) * 1_000) / pruned;
  await db.close();
  return { postgresUs: round(postgresUs) };
}

const polls = {
  serviceMs,
  concurrency: settlementConcurrency,
  perSecond: round(await pollsPerSecond(fleet, { count: duePayments, serviceMs })),
};
const measurements = [];
for (const listeners of [1, 4, 16]) measurements.push(await notifications(listeners));
const [few, many] = [measurements[0], measurements.at(-1)];
const listenerUs = (many.postgresUs - few.postgresUs) / (many.listeners - few.listeners);
const notify = {
  measurements,
  baseUs: round(few.postgresUs - listenerUs * few.listeners),
  listenerUs: round(listenerUs),
};
const { rows: versions } = await fleet.client.query('show server_version');
const prune = await measurePruning();
await stopFleet(fleet);
upstream.stop();
const { bytesEach, openCpuUs, eventCpuUs } = await measureStreams(streamVariants['each at its own intent'], clients);
const stream = { bytes: round(bytesEach), openUs: round(openCpuUs), eventUs: round(eventCpuUs) };

const [{ model }] = cpus();
const machine = { cores: cpus().length, model, node: process.versions.node, postgres: versions[0].server_version };
const result = { machine, ...constants, polls, notify, stream, bytes, prune };
await mkdir(values.out, { recursive: true });
const text = `${JSON.stringify(result, undefined, 2)}\n`;
await writeFile(path.join(values.out, 'capacity.json'), text);
process.stdout.write(text);
