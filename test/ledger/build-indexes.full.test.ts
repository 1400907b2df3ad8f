import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import pg from 'pg';
import { createLedger } from '../../src/ledger/create-ledger.js';
import type { Database } from '../../src/ledger/database.js';
import { keepIndexes } from '../../src/ledger/keep-indexes.js';
import type { NewIntent } from '../../src/ledger/ledger.js';
import { isMigrated, migrate, migrateTables } from '../../src/ledger/migrate.js';
import { type Migration, migrations } from '../../src/ledger/migrations.js';
import { openPostgres } from '../../src/ledger/postgres.js';
import { recordIntent } from '../../src/ledger/record-intent.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { startPooler } from '../support/databases/transaction-pooler.js';
import { eventually } from '../support/eventually.js';
import { compile, start } from '../support/runner/child-program.js';
import { LogRecorder } from '../support/sites/site.js';
import { insertPayments } from './proof/insert-payments.js';

// Indexes are built while a site is at work. Building waits for every transaction that looks at the past, so that one which
// is held open holds the building where it is, for as long as a test looks at it.

jest.setTimeout(300_000);

const times = { watchFirstMs: 3_600_000, watchMs: 3_600_000 };
const intent = (number: number): NewIntent => ({
  id: `intent${String(number).padStart(38, 'x')}`,
  terms: undefined,
  browser: new Uint8Array(32).fill(7),
});
const indexes = migrations.flatMap(({ version, index }) => (index ? [{ version, name: index.name }] : []));
const versions = (list: readonly Migration[]): number[] => list.map(({ version }) => version);

let server: PostgresServer;
let name: string;
let db: Database;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startPostgres();
});

/** Tables with much in them, of a version that had none of the indexes which are built later. */
beforeEach(async () => {
  name = await server.createDatabase();
  db = await open();
  await migrateTables(db);
  await insertPayments(db, 5_000, 3_600_000);
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(url = server.url(name)): Promise<Database> {
  const database = await openPostgres({ url, closeMs: 1_000 });
  opened.push(() => database.close());
  return database;
}

/** A transaction that looks at the tables as they are now, until it is told to end. */
async function lookAtThePast(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: server.url(name) });
  await client.connect();
  await client.query('begin isolation level repeatable read; select count(*) from express_intents.intents');
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= client.end();
    return ended;
  };
  opened.push(end);
  return end;
}

/** Whether each of the indexes that are there, finished or not, is finished. */
async function states(): Promise<Record<string, unknown>> {
  const rows = await server.run(
    name,
    `select relname, indisvalid from pg_index join pg_class on oid = indexrelid where relname = any($1)`,
    [indexes.map((index) => index.name)],
  );
  return Object.fromEntries(rows.map(({ relname, indisvalid }) => [relname, indisvalid]));
}

const waiters = async (): Promise<readonly Record<string, unknown>[]> =>
  server.run(name, `select locktype, mode from pg_locks where not granted`);

/** The first index is half built, and waits for the past. */
const isHalfBuilt = async (): Promise<boolean> =>
  Object.values(await states()).includes(false) && (await waiters()).some(({ locktype }) => locktype === 'virtualxid');

const allBuilt = Object.fromEntries(indexes.map((index) => [index.name, true]));
const indexVersions = indexes.map(({ version }) => version);

test('a site writes while an index is built, and nobody waits for anybody', async () => {
  const endOfThePast = await lookAtThePast();
  const building = migrate(db);
  await eventually('half an index', isHalfBuilt);
  for (let number = 0; number < 50; number += 1) await recordIntent(db, intent(number), times);
  expect(await waiters()).toEqual([{ locktype: 'virtualxid', mode: 'ShareLock' }]);
  expect(Object.values(await states())).toContain(false);
  expect(await isMigrated(db)).toBe(true);
  await endOfThePast();
  expect(versions(await building)).toEqual(indexVersions);
  expect(await states()).toEqual(allBuilt);
  expect(await migrate(db)).toEqual([]);
});

test('what is built is finished by the database when the process that wanted it is killed, and nobody begins it anew', async () => {
  const endOfThePast = await lookAtThePast();
  const child = start(await compile(new URL('./programs/migrate.ts', import.meta.url)), [server.url(name)]);
  expect(await child.next()).toBe('ready');
  child.process.stdin?.write('go\n');
  await eventually('half an index', isHalfBuilt);
  await child.kill();
  const rebuilding = migrate(db);
  // It comes, tries the lock, which is free, and may not drop what is still being built.
  await wait(1_500);
  expect(await isHalfBuilt()).toBe(true);
  await endOfThePast();
  const [first, ...others] = indexVersions;
  expect(versions(await rebuilding)).not.toContain(first);
  expect(others).toEqual(expect.arrayContaining(versions(await rebuilding)));
  expect(await states()).toEqual(allBuilt);
});

test('half an index that a crash of Postgres has left is dropped, and built anew at the next start', async () => {
  const endOfThePast = await lookAtThePast();
  const building = migrate(db);
  const failing = expect(building).rejects.toMatchObject({ code: 'ledger_unavailable' });
  await eventually('half an index', isHalfBuilt);
  await server.run(name, `select pg_terminate_backend(pid) from pg_stat_activity where query like 'create index%'`);
  await failing;
  expect(Object.values(await states())).toEqual([false]);
  await endOfThePast();
  expect(versions(await migrate(db))).toEqual(indexVersions);
  expect(await states()).toEqual(allBuilt);
});

test('of several that come at once one builds', async () => {
  const dbs = [db, await open(), await open(), await open()];
  const built = await Promise.all(dbs.map((each) => migrate(each)));
  expect(versions(built.flat()).sort()).toEqual(indexVersions);
  expect(await states()).toEqual(allBuilt);
});

test('a pooler that gives a connection for one transaction may stand in between', async () => {
  const pooler = await startPooler(server.socketPath, 'postgres', name);
  const pooled = await open(`postgres://postgres@127.0.0.1:${pooler.port}/${name}`);
  expect(versions(await migrate(pooled))).toEqual(indexVersions);
  expect(await states()).toEqual(allBuilt);
  // No lock is left on a connection that others have now.
  expect(await server.run(name, `select from pg_locks where locktype = 'advisory'`)).toEqual([]);
});

test('a role whose every transaction looks at the past does not wait for itself', async () => {
  await server.run(name, `alter database ${name} set default_transaction_isolation = 'serializable'`);
  expect(versions(await migrate(await open()))).toEqual(indexVersions);
});

describe('a site', () => {
  const log = new LogRecorder();
  const settings = {
    settleDelayMs: 0,
    watchMs: 3_600_000,
    reversalWatchMs: 0,
    looksAtOnce: 24,
    hookAttempts: 3,
    hookTimeoutMs: 5_000,
    lateAfterMs: 3_600_000,
  };
  const createSite = (url: string) =>
    createLedger({
      open: async () => {
        const database = await openPostgres({ url });
        await migrateTables(database);
        return database;
      },
      hooks: {},
      askStatus: async () => ({ exists: true, intentSubmitted: false }),
      askUserId: undefined,
      settings,
      logger: log,
      keepsIndexes: true,
    });

  test('starts, works and closes while an index is built, which goes on without it', async () => {
    const endOfThePast = await lookAtThePast();
    const site = createSite(server.url(name));
    await site.ready();
    await eventually('half an index', isHalfBuilt);
    await site.record(intent(1));
    expect(await site.find(intent(1).id)).toMatchObject({ state: 'open' });
    await site.close();
    expect(await isHalfBuilt()).toBe(true);
    await endOfThePast();
    const [first = { name: '' }] = indexes;
    await eventually('the index', async () => (await states())[first.name] === true);
    const next = createSite(server.url(name));
    await eventually('all indexes', async () => (await migrate(db)).length === 0);
    await next.close();
    expect(log.lines).toEqual([]);
  });

  test('works without an index that its role may not build, and says so once', async () => {
    await server.run(
      name,
      `create role cook login; grant usage on schema express_intents to cook;
       grant select, insert, update, delete on all tables in schema express_intents to cook`,
    );
    const site = createSite(server.url(name).replace('postgres@', 'cook@'));
    await site.ready();
    await eventually('a line in the log', async () => log.lines.length > 0);
    await site.record(intent(1));
    await site.close();
    expect(log.text).toMatch(/^warn express-intents: an index of the ledger cannot be built.*must be owner of table/s);
    expect(log.lines).toHaveLength(1);
  });
});

test('keeping indexes ends with its signal, whatever the database does', async () => {
  const closing = new AbortController();
  const keeping = keepIndexes(await open('postgres://nobody@127.0.0.1:1/nowhere'), new LogRecorder(), closing.signal);
  await wait(50);
  closing.abort();
  await keeping;
});

test('who waits to change a table lets the others through, and has its turn once the table is free', async () => {
  const endOfThePast = await lookAtThePast();
  const sql = 'alter table express_intents.intents add column note text';
  const changing = migrateTables(db, [...migrations, { version: migrations.length + 1, name: 'note', sql }]);
  await eventually('a lock that is waited for', async () =>
    (await waiters()).some(({ mode }) => mode === 'AccessExclusiveLock'),
  );
  // Were it waited for to the end, this would be held up until the statement times out.
  await recordIntent(db, intent(1), times);
  await endOfThePast();
  expect(versions(await changing)).toEqual([migrations.length + 1]);
});
