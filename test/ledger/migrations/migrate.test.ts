import pg from 'pg';
import type { Database } from '../../../src/ledger/database/database.js';
import { diagnoseDatabase } from '../../../src/ledger/database/database-fault.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import { confirmIntents, reserveIntents } from '../../../src/ledger/intents/record-intent.js';
import {
  type Migration,
  migrate,
  migrations,
  missingMigrations,
  requireMigrated,
} from '../../../src/ledger/migrations/migrate.js';
import { kinds, openTestDatabase } from '../../support/databases/databases.js';
import { type PostgresServer, startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';

const versions = (list: readonly Migration[]): number[] => list.map(({ version }) => version);

/** The migrations that the database has recorded. */
async function recorded(db: Database): Promise<readonly object[]> {
  return (await db.query('select version, name from express_intents.schema_versions order by version')).rows;
}

/** A database that records its statements. */
function counted(db: Database): { readonly db: Database; readonly statements: string[] } {
  const statements: string[] = [];
  const query: Database['query'] = (sql, values) => {
    statements.push(sql);
    return db.query(sql, values);
  };
  const transaction: Database['transaction'] = (work) => {
    statements.push('a transaction');
    return db.transaction(work);
  };
  return { db: { isShared: db.isShared, query, transaction, close: () => db.close() }, statements };
}

const more: readonly Migration[] = [
  {
    version: 1,
    name: 'letters',
    sql: 'create table public.letters (letter text); create index on public.letters (letter)',
  },
  { version: 2, name: 'a', sql: `insert into public.letters values ('a')` },
  { version: 3, name: 'b', sql: `insert into public.letters values ('b')` },
];
const letters = async (db: Database): Promise<unknown[]> =>
  (await db.query<{ letter: string }>('select letter from public.letters order by letter')).rows.map(
    ({ letter }) => letter,
  );

describe.each(kinds)('migrate on %s', (kind) => {
  test('names the fix for tables of another build, and leaves them as they are', async () => {
    const { db } = await openTestDatabase(kind, { migrated: false });
    await migrate(db, more);
    const changed = more.map((each) => (each.version === 1 ? { ...each, name: 'letters of another build' } : each));
    for (const call of [migrate(db, changed), missingMigrations(db, changed)]) {
      await expect(call).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringMatching(/unreleased build.*drop schema express_intents cascade/s),
      });
    }
    expect(await letters(db)).toEqual(['a', 'b']);
  });

  test('runs all migrations on a new database in order, and nothing the second time, with one query', async () => {
    const { db } = await openTestDatabase(kind, { migrated: false });
    expect(await missingMigrations(db)).toEqual(migrations);
    await expect(requireMigrated(db)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('npx express-intents migrate'),
    });
    expect(await migrate(db)).toEqual(migrations);
    expect(await recorded(db)).toEqual(migrations.map(({ version, name }) => ({ version, name })));
    const again = counted(db);
    expect(await migrate(again.db)).toEqual([]);
    await requireMigrated(again.db);
    expect(again.statements).toHaveLength(2);
    expect(await migrate(db)).toEqual([]);
    expect((await db.query('select from express_intents.intents')).rowCount).toBe(0);
  });

  test('runs the missing ones on an older database, none on a newer one, and rolls back one that fails', async () => {
    const { db } = await openTestDatabase(kind, { migrated: false });
    expect(versions(await migrate(db, more.slice(0, 2)))).toEqual([1, 2]);
    const broken = {
      version: 3,
      name: 'broken',
      sql: `insert into public.letters values ('x'); insert into nowhere values (1)`,
    };
    const after = { version: 4, name: 'after', sql: `insert into public.letters values ('y')` };
    await expect(migrate(db, [...more.slice(0, 2), broken, after])).rejects.toMatchObject({ code: '42P01' });
    expect(await letters(db)).toEqual(['a']);
    expect(await recorded(db)).toHaveLength(2);
    expect(versions(await migrate(db, more))).toEqual([3]);
    expect(await migrate(db, more.slice(0, 1))).toEqual([]);
    expect(await missingMigrations(db, more.slice(0, 1))).toEqual([]);
    expect(await letters(db)).toEqual(['a', 'b']);
  });
});

test('the list of migrations has consecutive versions from 1 and unique names', () => {
  expect(versions(migrations)).toEqual(migrations.map((_, index) => index + 1));
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

describe('migrate on Postgres', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  test.each(['read committed', 'repeatable read'])(
    'runs each migration once over several concurrent connections, with the default %s',
    async (level) => {
      const name = await server.createDatabase();
      await server.run(name, `alter database ${name} set default_transaction_isolation = '${level}'`);
      const dbs = await Promise.all(Array.from({ length: 5 }, () => openPostgres({ url: server.url(name) })));
      const ran = await Promise.all(dbs.flatMap((db) => [migrate(db, more), migrate(db, more)]));
      expect(versions(ran.flat()).sort()).toEqual([1, 2, 3]);
      expect(await letters(dbs[0] as Database)).toEqual(['a', 'b']);
      for (const db of dbs) await db.close();
    },
  );

  test('names the grants that a role needs on tables of another role, and these are enough', async () => {
    const name = await server.createDatabase();
    const admin = await openPostgres({ url: server.url(name) });
    await migrate(admin);
    await admin.close();
    await server.run(name, 'create role guest login');
    const db = await openPostgres({ url: server.url(name).replace('postgres@', 'guest@') });
    const error = await requireMigrated(db).catch((failure) => failure);
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    // The doctor reads the cause.
    expect(error.message).toContain(diagnoseDatabase(error)?.fix);
    const grants = [...String(error.message).matchAll(/`(grant [^`]+)`/g)].map(([, grant]) => `${grant}`);
    expect(grants).toHaveLength(2);
    for (const grant of grants) await server.run(name, grant.replace('<role>', 'guest'));
    await requireMigrated(db);
    const times = { watchFirstMs: 1, watchMs: 1 };
    const intent = { id: 'a', terms: undefined, browser: new Uint8Array(32) };
    const key = { key: 'a', fingerprint: intent.browser, sealedSecret: 'a' };
    expect(await reserveIntents(db, [{ intent, idempotency: key }])).toEqual([true]);
    expect(await confirmIntents(db, ['a'], times)).toEqual([true]);
    expect((await db.query('select from express_intents.history')).rowCount).toBe(1);
    await db.close();
  });

  test('lets other statements pass while it waits for a table in use, and succeeds when the table is free', async () => {
    const name = await server.createDatabase();
    const db = await openPostgres({ url: server.url(name) });
    await migrate(db);
    const reader = new pg.Client({ connectionString: server.url(name) });
    await reader.connect();
    await reader.query('begin isolation level repeatable read; select count(*) from express_intents.intents');
    const next = migrations.length + 1;
    const sql = 'alter table express_intents.intents add column note text';
    const changing = migrate(db, [...migrations, { version: next, name: 'note', sql }]);
    const waiting = 'select from pg_locks where not granted and mode = $1';
    await eventually(
      'the migration waits for the lock',
      async () => (await server.run(name, waiting, ['AccessExclusiveLock'])).length > 0,
    );
    // If the migration queued for the lock without a timeout, this statement would time out.
    await db.query(`insert into express_intents.intents (id, kind) values ('a', 'login')`);
    await reader.end();
    expect(versions(await changing)).toEqual([next]);
    await db.close();
  });
});
