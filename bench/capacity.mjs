// What everything costs that a site does, in its process and in Postgres: the constants of `scaling-model.mjs`.
//   npm run bench:capacity [-- --rounds 4 --ms 3000 --warm-ms 3000 --clients 5000 --out bench/results]
//   npm run bench:capacity -- --backlog 10000 [--service-ms 50 --outage-ms 5000]    how fast a backlog settles: see backlog.mjs
// Needs a build. Prints capacity.json and writes it.

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
  countWorks,
  looksPerSecond,
  measureIdle,
  measureWork,
  startFleet,
  startUpstream,
  stopFleet,
  warmUp,
} from './fleet-parts.mjs';
import { medianOf } from './measure.mjs';
import { crowds, measureStreams } from './sse.mjs';

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
  const [payments, thinksMs, outageMs] = ['backlog', 'service-ms', 'outage-ms'].map((name) => Number(values[name]));
  process.exit((await settleBacklog({ payments, thinksMs, outageMs })) ? 0 : 1);
}
const [rounds, ms, warmMs, clients] = ['rounds', 'ms', 'warm-ms', 'clients'].map((name) => Number(values[name]));

/** So many a second: each keeps the process about a third busy, as one would plan it. */
const paces = { payment: 250, login: 150, status: 700, look: 400, settle: 150 };
/** The latency of the service while the polls of a process are counted. */
const thinksMs = 50;
/** The default of the option. */
const settlementConcurrency = 24;
/** What is counted is counted of so many. */
const toCount = 500;
/** Due all at once. */
const manyLooks = 2_000;

const upstream = startUpstream();
const fleet = await startFleet(1, upstream);
await warmUp(fleet, Object.keys(paces), warmMs);

const samples = Object.fromEntries(['idle', ...Object.keys(paces)].map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  samples.idle.push(await measureIdle(fleet, ms));
  for (const [work, perSecond] of Object.entries(paces)) {
    samples[work].push(await measureWork(fleet, work, { ms, perSecond }));
  }
}
const round = (value) => Number(Math.max(0, value).toPrecision(3));
const constants = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => [
    name,
    Object.fromEntries(Object.keys(list[0]).map((key) => [key, round(medianOf(list, key))])),
  ]),
);

const { status: _untouched, ...counted } = paces;
for (const [work, each] of Object.entries(await countWorks(fleet, counted, toCount))) {
  for (const [name, value] of Object.entries(each)) constants[work][name] = round(value);
}
Object.assign(constants.status, { transactions: 0, deadRows: 0, walBytes: 0 });

/** What a NOTIFY costs Postgres with so many that listen, from a few connections at once. */
async function notifications(listeners, forMs = 1_000) {
  const { postgres } = fleet;
  const connect = async () => {
    const client = new pg.Client({ connectionString: postgres.url('bench_1') });
    await client.connect();
    return client;
  };
  const hearing = await Promise.all(Array.from({ length: listeners }, connect));
  for (const client of hearing) await client.query('listen bench');
  const notifiers = await Promise.all(Array.from({ length: 4 }, connect));
  const [cpuBeforeMs, endMs] = [postgres.cpuMs(), performance.now() + forMs];
  let sent = 0;
  const notify = async (client) => {
    for (; performance.now() < endMs; sent += 1) await client.query(`select pg_notify('bench', $1)`, [String(sent)]);
  };
  await Promise.all(notifiers.map(notify));
  await wait(200);
  const cpuUs = ((postgres.cpuMs() - cpuBeforeMs) * 1_000) / sent;
  for (const client of [...hearing, ...notifiers]) await client.end();
  return { listeners, postgresUs: round(cpuUs), perSecond: round(sent / (forMs / 1_000)) };
}

/** On the disk, with indexes and history: an intent that was polled for a while, and one that settled. */
const bytes = { open: 1_535, settled: 2_850 };

/** What it costs to prune one. */
async function pruning() {
  const { client, postgres } = fleet;
  await client.query(`insert into express_intents.intents
      (id, kind, amount, currency, destination, metadata, browser, idempotency_key, fingerprint, sealed_secret, state, created_at)
    select translate(encode(sha256(n::text::bytea), 'base64'), '+/=', ''), 'payment', 4.5, 'usd',
      'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', '{"order": 42}', sha256(n::text::bytea), gen_random_uuid()::text,
      sha256(n::text::bytea), repeat('s', 150), 'expired', now() - interval '99 days' from generate_series(1, 20000) n`);
  const db = await openPostgres({ url: postgres.url('bench_1') });
  const before = postgres.cpuMs();
  const pruned = await pruneIntents(db, { olderThan: new Date(Date.now() - 90 * 86_400_000) });
  const postgresUs = ((postgres.cpuMs() - before) * 1_000) / pruned;
  await db.close();
  return { postgresUs: round(postgresUs) };
}

const looks = {
  thinksMs,
  atOnce: settlementConcurrency,
  perSecond: round(await looksPerSecond(fleet, { count: manyLooks, thinksMs })),
};
const heard = [];
for (const listeners of [1, 4, 16]) heard.push(await notifications(listeners));
const [few, many] = [heard[0], heard.at(-1)];
const listenerUs = (many.postgresUs - few.postgresUs) / (many.listeners - few.listeners);
const notify = { heard, baseUs: round(few.postgresUs - listenerUs * few.listeners), listenerUs: round(listenerUs) };
const { rows: versions } = await fleet.client.query('show server_version');
const prune = await pruning();
await stopFleet(fleet);
upstream.stop();
const { bytesEach, openCpuUs, eventCpuUs } = await measureStreams(crowds['each at its own intent'], clients);
const stream = { bytes: round(bytesEach), openUs: round(openCpuUs), eventUs: round(eventCpuUs) };

const [{ model }] = cpus();
const machine = { cores: cpus().length, model, node: process.versions.node, postgres: versions[0].server_version };
const result = { machine, ...constants, looks, notify, stream, bytes, prune };
await mkdir(values.out, { recursive: true });
const text = `${JSON.stringify(result, undefined, 2)}\n`;
await writeFile(path.join(values.out, 'capacity.json'), text);
process.stdout.write(text);
