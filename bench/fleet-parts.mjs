// A fleet of site processes with a Postgres of its own, and the work that it is measured with.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import bs58 from 'bs58';
import pg from 'pg';
import { startChild } from './child.mjs';
import { site } from './measure.mjs';
import { startPostgres } from './postgres.mjs';

/** Connections of the customers to one process. */
const connections = 32;
/** What lies in the tables before anything is measured: open, and not due for a day. */
const openBefore = 5_000;

/**
 * What comes before each window and does not count: while the others had their turns the engine has given memory back, and
 * collects garbage again and again until it has it once more.
 */
const leadInMs = 800;

/** What customers ask for, by the name of `fleet-load.mjs`. */
export const requests = { payment: 'payment', login: 'login', status: 'status' };
/** The background work of the ledger, with the status that the service reports. */
export const chores = { look: { submitted: false }, settle: { submitted: true } };

/** Open payments without a browser: the first is due in half a second, then so many a second. */
const insertDue = `insert into express_intents.intents
    (id, kind, amount, currency, destination, metadata, browser, idempotency_key, fingerprint, sealed_secret,
     state, created_at, due_at, watch_until)
  select id, 'payment', 4.5, 'usd', $2, '{"order": 42}', sha256(id::bytea), gen_random_uuid()::text, sha256(id::bytea),
    repeat('s', 150), 'open', now() - interval '1 hour', now() + (500 + 1000 * (n - 1) / $3::float8) * interval '1 millisecond',
    now() + interval '30 days'
  from unnest($1::text[]) with ordinality as given (id, n)`;

/** The service, and the clients of the fleets. */
export function startUpstream() {
  const [stub, load] = [startChild('./stub.mjs'), startChild('./fleet-load.mjs')];
  return { stub, load, stop: () => [stub, load].forEach((child) => void child.stop()) };
}

/**
 * So many site processes, and their Postgres.
 * @param options `isApart` gives each process a database of its own, so that it shares nothing but the machine
 */
export async function startFleet(size, { stub, load }, { isApart = false } = {}) {
  const postgres = await startPostgres();
  const databases = await Promise.all(Array.from({ length: isApart ? size : 1 }, () => postgres.newDatabase()));
  const { url } = await stub.ask('addresses');
  const processes = Array.from({ length: size }, () => startChild('./server.mjs'));
  // No poll for reversals, which would count as polls.
  const options = { module: 'ours', ...site, url, watch: { settledMs: 0 }, secret: 's'.repeat(40) };
  const start = (child, index) => child.ask('start', { ...options, databaseUrl: databases[index % databases.length] });
  const ports = await Promise.all(processes.map(start));
  const clients = await Promise.all(databases.map(fill));
  return { size, ports, processes, postgres, client: clients[0], clients, stub, load };
}

/** @returns a connection to a database in which some lies already */
async function fill(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(insertDue, [newIds(openBefore), site.destination, openBefore / 86_400]);
  await client.query(`update express_intents.intents set due_at = now() + interval '1 day'`);
  await client.query('vacuum full analyze express_intents.intents');
  return client;
}

export async function stopFleet({ processes, clients, postgres }) {
  for (const client of clients) await client.end();
  for (const child of processes) child.stop();
  await postgres.stop();
}

/** Has a fleet do each of these works until its code is compiled. */
export async function warmUp(fleet, works, ms) {
  for (const work of works) {
    if (work in requests) await runRequests(fleet, work, { ms });
    else await runChores(fleet, work, { ms, perSecond: 600 });
  }
}

/** The cost of an idle second: no requests, and nothing is due. */
export async function measureIdle(fleet, ms) {
  await tidy(fleet);
  return measured(fleet, async () => {
    await wait(ms);
    return ms / 1_000;
  });
}

/**
 * What each of so many a second costs, over all processes.
 * @returns CPU of the site and of Postgres in microseconds, and calls to the service; of one each
 */
export async function measureWork(fleet, work, pace) {
  await tidy(fleet);
  const leadIn = { ...pace, ms: Math.min(leadInMs, pace.ms) };
  if (work in requests) {
    const visit = await enter(fleet, work);
    await visit(leadIn);
    const sample = await measured(fleet, () => visit(pace));
    await leave(fleet);
    return sample;
  }
  const [before, count] = [leadIn, pace].map(({ perSecond, ms }) => Math.round((perSecond * ms) / 1_000));
  const calls = await makeDue(fleet, work, { ...pace, count: before + count });
  const begunWith = await untilCalled(fleet, calls + before);
  return measured(fleet, () => untilDone(fleet, calls + before + count).then((calls) => calls - begunWith));
}

/** How many polls a second complete when many are due and the service has this latency. */
export async function looksPerSecond(fleet, { count, thinksMs }) {
  await tidy(fleet);
  const before = await makeDue(fleet, 'look', { count, perSecond: 1e6, thinksMs });
  const first = await untilCalled(fleet, before + 1);
  const begunAtMs = performance.now();
  const last = await untilCalled(fleet, before + count);
  const tookMs = performance.now() - begunAtMs;
  await fleet.stub.ask('clearFaults', {});
  return ((last - first) / tookMs) * 1_000;
}

async function runRequests(fleet, work, pace) {
  const visit = await enter(fleet, work);
  const requests = await visit(pace);
  await leave(fleet);
  return requests;
}

/** Connects. @returns what asks for so long, and gives how often it did */
async function enter({ load, ports, stub }, work) {
  // A status request for a submitted intent makes the ledger poll it.
  await stub.ask('clearFaults', {});
  await load.ask('open', { ports, connections });
  return async (pace) => {
    const { requests, wrong } = await load.ask('run', { work, ...pace });
    if (wrong > 0) throw new Error(`${work}: ${wrong} of ${requests} answers were wrong.`);
    return requests;
  };
}

const leave = ({ load }) => load.ask('close');

async function runChores(fleet, work, pace) {
  const count = Math.round((pace.perSecond * pace.ms) / 1_000);
  await untilDone(fleet, (await makeDue(fleet, work, { ...pace, count })) + count);
}

/** @returns how many calls there were before any of it */
async function makeDue({ clients, stub }, work, { count, perSecond, thinksMs = 0 }) {
  await stub.ask('clearFaults', { ...chores[work], ms: thinksMs });
  const calls = await stub.ask('calls');
  const each = (index) => Math.floor((count + index) / clients.length);
  const insert = (client, index) =>
    client.query(insertDue, [newIds(each(index)), site.destination, perSecond / clients.length]);
  await Promise.all(clients.map(insert));
  return calls;
}

/** Until so many calls were made, and what is done with the answers has been done. @returns how many they are by then */
async function untilDone(fleet, calls) {
  const called = await untilCalled(fleet, calls);
  await wait(300);
  return called;
}

async function untilCalled({ stub }, calls) {
  for (;;) {
    const called = await stub.ask('calls');
    if (called >= calls) return called;
    await wait(10);
  }
}

const newIds = (count) => Array.from({ length: count }, () => bs58.encode(randomBytes(32)));

/** What was left behind by what was measured before is not paid for by what comes. */
async function tidy({ clients }) {
  for (const client of clients) await client.query('vacuum analyze express_intents.intents');
  await clients[0].query('checkpoint');
}

/** From a transaction to the moment in which Postgres counts it, for a connection that has nothing more to do. */
const countedAfterMs = 11_000;

/**
 * Counts what so many of each kind of work cost the database, minus the idle cost.
 * @param paces how many a second, by the names of the works
 * @returns transactions, rows left dead and WAL bytes, of one each
 */
export async function countWorks(fleet, paces, count) {
  const counting = async (work) => {
    const before = await counts(fleet.client);
    const begunAtMs = performance.now();
    await work();
    await wait(countedAfterMs);
    const after = await counts(fleet.client);
    return { seconds: (performance.now() - begunAtMs) / 1_000, ...differences(before, after) };
  };
  await tidy(fleet);
  await wait(countedAfterMs);
  const idle = await counting(async () => undefined);
  const counted = {};
  for (const [work, perSecond] of Object.entries(paces)) {
    const pace = { ms: (count / perSecond) * 1_000, perSecond };
    const calls = work in chores ? await makeDue(fleet, work, { ...pace, count }) : 0;
    const busy = await counting(() =>
      work in requests ? runRequests(fleet, work, pace) : untilDone(fleet, calls + count),
    );
    const each = (name) => (busy[name] - (idle[name] / idle.seconds) * busy.seconds) / count;
    counted[work] = Object.fromEntries(['transactions', 'deadRows', 'walBytes'].map((name) => [name, each(name)]));
  }
  return counted;
}

const differences = (before, after) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

async function measured(fleet, work) {
  const before = await readings(fleet);
  const count = await work();
  const after = await readings(fleet);
  return Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / count]));
}

async function readings({ processes, postgres, stub }) {
  const used = await Promise.all(processes.map((child) => child.ask('used')));
  return {
    siteUs: used.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
    postgresUs: postgres.cpuMs() * 1_000,
    calls: await stub.ask('calls'),
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
