// What an intent costs the database, from its creation until it is pruned: bytes of WAL, bytes of the tables and of each
// index, and which share of the updates is HOT, so that no index is written.
//   node bench/rows.mjs [--count 20000] [--looks 10] [--fillfactor 100,85] [--vacuum-at 0.05] [--full-pages] [--sql '...']
// `--vacuum-at` is the share of dead rows at which they are cleared away, as autovacuum does it by its scale factor; 0 is
// never. With `--full-pages` the first change of a page after a checkpoint writes the whole page, as Postgres does by default;
// there is one checkpoint before each phase. `--sql` is run once the tables are there. Needs a build.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import bs58 from 'bs58';
import { migrate } from '../build/ledger/migrate.js';
import { openPostgres } from '../build/ledger/postgres.js';
import { pruneIntents } from '../build/ledger/prune-intents.js';
import { confirmIntent, reserveIntent } from '../build/ledger/record-intent.js';
import { Settlement } from '../build/ledger/settlement.js';
import { defaultTiming } from '../build/ledger/settlement-timing.js';
import { startPostgres } from './postgres.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    looks: { type: 'string', default: '10' },
    fillfactor: { type: 'string', default: '' },
    'vacuum-at': { type: 'string', default: '0.05' },
    'full-pages': { type: 'boolean', default: false },
    sql: { type: 'string', default: '' },
  },
});
const count = Number(values.count);
const looks = Number(values.looks);
const vacuumAt = Number(values['vacuum-at']);
const fillfactors = values.fillfactor === '' ? [undefined] : values.fillfactor.split(',').map(Number);

const postgres = await startPostgres({ full_page_writes: values['full-pages'] ? 'on' : 'off' });
const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };

/** As the button makes one: with an `Idempotency-Key`, and with an order among its metadata. */
function newIntent(number) {
  const terms = {
    amount: '4.50',
    currency: 'usd',
    destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
    login: false,
    resource: undefined,
    metadata: { order: `A-${number}` },
  };
  const intent = { id: bs58.encode(randomBytes(32)), terms, browser: randomBytes(32) };
  const key = { key: randomUUID(), fingerprint: randomBytes(32), sealedSecret: randomBytes(150).toString('base64url') };
  return { intent, key };
}

/** Runs `work` for each number, a few at once, as a site does. */
async function each(total, work) {
  let next = 0;
  const worker = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

const one = async (db, sql) => (await db.query(sql)).rows[0];

/** What the database has written, holds, and says of its updates, by now. */
async function state(db) {
  const { wal } = await one(db, `select pg_current_wal_insert_lsn() - '0/0' as wal`);
  const updates = await one(
    db,
    `select n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot from pg_stat_user_tables
     where schemaname = 'express_intents' and relname = 'intents'`,
  );
  const { rows } = await db.query(
    `select relname as name, (pg_relation_size(oid) + case when relkind = 'r' then coalesce(pg_total_relation_size(reltoastrelid), 0)
       else 0 end)::float8 as bytes
     from pg_class where relnamespace = 'express_intents'::regnamespace and relkind in ('r', 'i') and relname <> 'schema_versions'
       and relname not like 'migrations%' order by relname`,
  );
  return { wal: Number(wal), ...updates, sizes: Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes])) };
}

/** Runs one part of a life over a pool of its own, whose processes tell their statistics when they end. */
async function phase(url, name, per, work) {
  const looker = await openPostgres({ url, statementMs: 300_000 });
  await looker.query('checkpoint');
  const before = await state(looker);
  const db = await openPostgres({ url });
  const startMs = performance.now();
  await work(db, (sql) => looker.query(sql));
  const ms = performance.now() - startMs;
  await db.close();
  await wait(500);
  const after = await state(looker);
  await looker.close();
  const updates = after.updates - before.updates;
  const hot =
    updates > 0 ? `${Math.round((100 * (after.hot - before.hot)) / updates)}% of ${(updates / per).toFixed(1)}` : '-';
  print([
    name,
    ((after.wal - before.wal) / per).toFixed(0),
    hot,
    ...sizesOf(after.sizes),
    (per / (ms / 1_000)).toFixed(0),
  ]);
}

const columns = ['phase', 'WAL, bytes', 'HOT of updates', 'table', 'indexes', 'history', 'all', 'a second'];
const print = (cells) =>
  process.stdout.write(
    `${cells.map((cell, place) => String(cell)[place === 0 ? 'padEnd' : 'padStart'](place === 0 ? 24 : 15)).join('')}\n`,
  );

/** In bytes for each of the intents that were created. */
function sizesOf(sizes) {
  const sum = (wanted) =>
    Math.round(
      Object.entries(sizes)
        .filter(([name]) => wanted(name))
        .reduce((total, [, bytes]) => total + bytes, 0) / count,
    );
  const isHistory = (name) => name.startsWith('history');
  const parts = [sum((name) => name === 'intents'), sum((name) => name.startsWith('intents_')), sum(isHistory)];
  return [...parts, parts.reduce((one, other) => one + other)];
}

/** Looks at what is due until so many looks were made; nothing waits, so that all of it is due at once. */
async function look(db, total, { status, hooks = {}, timing = {}, every = () => undefined }) {
  let asked = 0;
  const settlement = new Settlement({
    db,
    hooks,
    askStatus: async () => {
      asked += 1;
      return status;
    },
    askUserId: undefined,
    settings: {
      settleDelayMs: 0,
      looksAtOnce: 6,
      watchMs: times.watchMs,
      reversalWatchMs: 86_400_000,
      hookAttempts: 15,
      hookTimeoutMs: 5_000,
      lateAfterMs: 900_000,
    },
    timing: { ...defaultTiming, watchFirstMs: 0, watchGrowth: 0, watchCapMs: 0, reversalFirstMs: 0, ...timing },
    logger: { warn: () => undefined, error: (...what) => process.stderr.write(`${what.map(String).join(' ')}\n`) },
  });
  let told = 0;
  while (asked < total) {
    if ((await settlement.round()) === 0) await settlement.idle();
    await Promise.race([settlement.idle(), wait(2)]);
    while (told < asked) every(told++);
  }
  await settlement.idle();
  await settlement.close();
}

async function live(fillfactor) {
  const url = await postgres.newDatabase();
  const db = await openPostgres({ url });
  await migrate(db);
  if (fillfactor) await db.query(`alter table express_intents.intents set (fillfactor = ${fillfactor})`);
  await db.query('create table public.effects (id text primary key)');
  if (values.sql) await db.query(values.sql);
  await db.close();
  process.stdout.write(
    `\n${count} intents, fillfactor ${fillfactor ?? 'as migrated'}, vacuum at ${vacuumAt} dead, sizes in bytes per intent\n`,
  );
  print(columns);

  await phase(url, 'create', count, (db) =>
    each(count, async (number) => {
      const { intent, key } = newIntent(number);
      await reserveIntent(db, intent, key);
      await confirmIntent(db, intent.id, { ...times, watchFirstMs: 0 });
    }),
  );
  const clear = async (sql) => {
    await sql('vacuum express_intents.intents');
  };
  const vacuumEvery = Math.max(1_000, Math.round(vacuumAt * count));
  await phase(url, `look (${looks} each)`, count * looks, async (db, sql) => {
    let vacuums = Promise.resolve();
    const every = (number) => {
      if (vacuumAt > 0 && number % vacuumEvery === vacuumEvery - 1) vacuums = vacuums.then(() => clear(sql));
    };
    await look(db, count * looks, { status: { exists: true, intentSubmitted: false }, every });
    await vacuums;
  });
  await phase(url, 'settle, onPaid with tx', count, (db) => {
    const onPaid = (payment, { tx }) => tx.query('insert into public.effects values ($1)', [payment.id]);
    // What has settled is not due again in this phase.
    const timing = { reversalFirstMs: 3_600_000 };
    return look(db, count, { status: { exists: true, intentSubmitted: true }, hooks: { onPaid }, timing });
  });
  await phase(url, 'vacuum', count, (_db, sql) => clear(sql));
  const whole = await openPostgres({ url });
  await whole.query(`update express_intents.intents set due_at = now(), settled_at = now() - interval '2 days'`);
  await whole.close();
  await phase(url, 'vacuum', count, (_db, sql) => clear(sql));
  await phase(url, 'last look at settled', count, (db) =>
    look(db, count, { status: { exists: true, intentSubmitted: true } }),
  );
  await phase(url, 'packed anew', count, (_db, sql) =>
    sql('vacuum full express_intents.intents').then(() => sql('reindex table express_intents.history')),
  );
  const admin = await openPostgres({ url });
  // Terms do not change, and when an intent was created is one of them.
  await admin.query('alter table express_intents.intents disable trigger keep_the_rules');
  await admin.query(`update express_intents.intents set created_at = created_at - interval '40 days'`);
  await admin.query('alter table express_intents.intents enable trigger keep_the_rules');
  await admin.query('vacuum full express_intents.intents');
  await admin.close();
  const olderThan = new Date(Date.now() - 30 * 86_400_000);
  await phase(url, 'prune', count, (db) => pruneIntents(db, { olderThan }));
}

for (const fillfactor of fillfactors) await live(fillfactor);
await postgres.stop();
