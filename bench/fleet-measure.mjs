// A fleet: site processes with their own Postgres, and the workloads that measure it.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import bs58 from 'bs58';
import pg from 'pg';
import { site } from './measure.mjs';
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';

/** Client connections to one process. */
const connections = 32;
/** Open intents in the table before the measurement, due in a day. */
const openBefore = 5_000;

/** The unmeasured load before each window, as in measure.mjs. */
const leadInMs = 800;

/** The workloads of clients, by their names in load.mjs. */
export const requests = ['payment', 'login', 'status'];
/** The background work of the ledger, with the status that the service returns. */
export const background = { poll: { submitted: false }, settle: { submitted: true } };

/** Open payments. The first is due in half a second, the others at a constant rate. */
const insertDue = `with given as (select * from unnest($1::text[]) with ordinality as given (id, n)),
  payments as (
    insert into express_intents.payments (intent_id, state, created_at, due_at, watch_until)
    select id, 'created', now() - interval '1 hour', now() + (500 + 1000 * (n - 1) / $3::float8) * interval '1 millisecond',
      now() + interval '30 days' from given)
  insert into express_intents.intents
    (id, kind, amount, currency, destination, metadata, browser, idempotency_key, fingerprint, sealed_secret, created_at)
  select id, 'payment', 4.5, 'usd', $2, '{"order": 42}', sha256(id::bytea), gen_random_uuid()::text, sha256(id::bytea),
    repeat('s', 150), now() - interval '1 hour' from given`;

/** The service and the clients of the fleets. */
export function startUpstream() {
  const [stub, load] = [startChild('./stub.mjs'), startChild('./load.mjs')];
  return { stub, load, stop: () => [stub, load].forEach((child) => void child.stop()) };
}

/**
 * Starts `size` site processes and their Postgres.
 * @param options `isApart`: each process has its own database, and shares only the machine
 */
export async function startFleet(size, { stub, load }, { isApart = false } = {}) {
  const postgres = await startPostgres();
  const databases = await Promise.all(Array.from({ length: isApart ? size : 1 }, () => postgres.newDatabase()));
  const { url } = await stub.call('addresses');
  const processes = Array.from({ length: size }, () => startChild('./server.mjs'));
  // Polls for reversals would be counted as polls.
  const options = { module: 'ours', ...site, url, ledger: { watch: { settledMs: 0 } }, secret: 's'.repeat(40) };
  const start = async (child, index) => {
    const databaseUrl = databases[index % databases.length];
    return child.call('start', { ...options, ledger: { ...options.ledger, url: databaseUrl } });
  };
  const ports = await Promise.all(processes.map(start));
  const clients = await Promise.all(databases.map(fill));
  return { size, ports, processes, postgres, client: clients[0], clients, stub, load };
}

/** Inserts intents into a database. @returns a connection to it */
async function fill(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(insertDue, [newIds(openBefore), site.destination, openBefore / 86_400]);
  await client.query(`update express_intents.payments set due_at = now() + interval '1 day'`);
  await client.query('vacuum full analyze express_intents.intents, express_intents.payments');
  return client;
}

export async function stopFleet({ processes, clients, postgres }) {
  for (const client of clients) await client.end();
  for (const child of processes) child.stop();
  await postgres.stop();
}

/** Runs each workload until the engine has compiled the code. */
export async function warmUp(fleet, workloads, ms) {
  for (const workload of workloads) {
    if (requests.includes(workload)) await runRequests(fleet, workload, { ms });
    else await runBackground(fleet, workload, { ms, perSecond: 600 });
  }
}

/** The cost of an idle second: no requests and no due payments. */
export async function measureIdle(fleet, ms) {
  await vacuum(fleet);
  return measured(fleet, async () => {
    await wait(ms);
    return ms / 1_000;
  });
}

/**
 * Measures a workload at a rate, which counts for all processes together.
 * @returns for one request or poll: CPU of the site and of Postgres in microseconds, and calls to the service
 */
export async function measureRate(fleet, workload, pace) {
  await vacuum(fleet);
  const leadIn = { ...pace, ms: Math.min(leadInMs, pace.ms) };
  if (requests.includes(workload)) {
    const send = await connect(fleet, workload);
    await send(leadIn);
    const sample = await measured(fleet, () => send(pace));
    await disconnect(fleet);
    return sample;
  }
  const [before, count] = [leadIn, pace].map(({ perSecond, ms }) => Math.round((perSecond * ms) / 1_000));
  const calls = await insertDuePayments(fleet, workload, { ...pace, count: before + count });
  const callsBefore = await untilCalled(fleet, calls + before);
  return measured(fleet, () => untilDone(fleet, calls + before + count).then((calls) => calls - callsBefore));
}

/** The rate of polls when many are due at once, at a latency of the service. */
export async function pollsPerSecond(fleet, { count, serviceMs }) {
  await vacuum(fleet);
  const before = await insertDuePayments(fleet, 'poll', { count, perSecond: 1e6, serviceMs });
  const first = await untilCalled(fleet, before + 1);
  const startedAtMs = performance.now();
  const last = await untilCalled(fleet, before + count);
  const tookMs = performance.now() - startedAtMs;
  await fleet.stub.call('configure', {});
  return ((last - first) / tookMs) * 1_000;
}

async function runRequests(fleet, workload, pace) {
  const send = await connect(fleet, workload);
  await send(pace);
  await disconnect(fleet);
}

/** Connects the clients. @returns a function that sends requests for some time and returns their number */
async function connect({ load, ports, stub }, workload) {
  // The ledger would recheck submitted intents after a status request.
  await stub.call('configure', {});
  await load.call('open', { ports, connections });
  return async (pace) => {
    const { requests, wrong } = await load.call('pace', { workload, ...pace });
    if (wrong > 0) throw new Error(`${workload}: ${wrong} of ${requests} responses were wrong.`);
    return requests;
  };
}

const disconnect = ({ load }) => load.call('close');

export async function runBackground(fleet, workload, pace) {
  const count = Math.round((pace.perSecond * pace.ms) / 1_000);
  await untilDone(fleet, (await insertDuePayments(fleet, workload, { ...pace, count })) + count);
}

/** Inserts payments that become due at a rate. @returns the number of calls to the service before */
async function insertDuePayments({ clients, stub }, workload, { count, perSecond, serviceMs = 0 }) {
  await stub.call('configure', { ...background[workload], ms: serviceMs });
  const calls = await stub.call('calls');
  const each = (index) => Math.floor((count + index) / clients.length);
  const insert = (client, index) =>
    client.query(insertDue, [newIds(each(index)), site.destination, perSecond / clients.length]);
  await Promise.all(clients.map(insert));
  return calls;
}

/** Waits until the calls were made and their results were processed. @returns the number of calls */
async function untilDone(fleet, calls) {
  const called = await untilCalled(fleet, calls);
  await wait(300);
  return called;
}

async function untilCalled({ stub }, calls) {
  for (;;) {
    const called = await stub.call('calls');
    if (called >= calls) return called;
    await wait(10);
  }
}

const newIds = (count) => Array.from({ length: count }, () => bs58.encode(randomBytes(32)));

/** Excludes the cleanup after previous measurements from the next one. */
async function vacuum({ clients }) {
  for (const client of clients) await client.query('vacuum analyze express_intents.intents, express_intents.payments');
  await clients[0].query('checkpoint');
}

/** After this time Postgres has counted the transactions of an idle connection. */
const statisticsDelayMs = 11_000;

/**
 * Counts the cost of `count` requests or polls in the database, minus the idle cost.
 * @param rates per second, by workload
 * @returns for one request or poll of each workload: transactions, dead rows and WAL bytes
 */
export async function countDatabaseWork(fleet, rates, count) {
  const counting = async (run) => {
    const before = await counts(fleet.client);
    const startedAtMs = performance.now();
    await run();
    await wait(statisticsDelayMs);
    const after = await counts(fleet.client);
    return { seconds: (performance.now() - startedAtMs) / 1_000, ...differences(before, after) };
  };
  await vacuum(fleet);
  await wait(statisticsDelayMs);
  const idle = await counting(async () => undefined);
  const counted = {};
  for (const [workload, perSecond] of Object.entries(rates)) {
    const pace = { ms: (count / perSecond) * 1_000, perSecond };
    const calls = workload in background ? await insertDuePayments(fleet, workload, { ...pace, count }) : 0;
    const busy = await counting(() =>
      requests.includes(workload) ? runRequests(fleet, workload, pace) : untilDone(fleet, calls + count),
    );
    const each = (name) => (busy[name] - (idle[name] / idle.seconds) * busy.seconds) / count;
    counted[workload] = Object.fromEntries(['transactions', 'deadRows', 'walBytes'].map((name) => [name, each(name)]));
  }
  return counted;
}

const differences = (before, after) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

async function measured(fleet, run) {
  const before = await readings(fleet);
  const count = await run();
  const after = await readings(fleet);
  return Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / count]));
}

async function readings({ processes, postgres, stub }) {
  const used = await Promise.all(processes.map((child) => child.call('used')));
  return {
    siteUs: used.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
    postgresUs: postgres.cpuMs() * 1_000,
    calls: await stub.call('calls'),
  };
}

async function counts(client) {
  const { rows } = await client.query(
    `select pg_current_wal_insert_lsn() - '0/0' as wal, xact_commit + xact_rollback as transactions,
       (select sum(n_tup_upd + n_tup_del) from pg_stat_user_tables) as dead
     from pg_stat_database where datname = current_database()`,
  );
  const [{ wal, transactions, dead }] = rows;
  return { transactions: Number(transactions), deadRows: Number(dead), walBytes: Number(wal) };
}
