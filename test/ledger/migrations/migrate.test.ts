import pg from 'pg';
import type { Database } from '../../../src/ledger/database/database.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
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
import { compile, start } from '../../support/runner/child-program.js';

// To open an embedded database takes its time on a busy machine.
const versions = (list: readonly Migration[]): number[] => list.map(({ version }) => version);

/** What the database says of what was run. */
async function recorded(db: Database): Promise<readonly object[]> {
  return (await db.query('select version, name from express_intents.schema_versions order by version')).rows;
}

/** Counts the statements that are asked of a database itself. */
function counted(db: Database): { readonly db: Database; readonly asked: string[] } {
  const asked: string[] = [];
  const query: Database['query'] = (sql, values) => {
    asked.push(sql);
    return db.query(sql, values);
  };
  const transaction: Database['transaction'] = (work) => {
    asked.push('a transaction');
    return db.transaction(work);
  };
  return { db: { isShared: db.isShared, query, transaction, close: () => db.close() }, asked };
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

describe.each(kinds)('migrating: %s', (kind) => {
  test('a new database gets all that there is, in their order, and a second time nothing, by one query', async () => {
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
    expect(again.asked).toHaveLength(2);
    expect(await migrate(db)).toEqual([]);
    expect((await db.query('select from express_intents.intents')).rowCount).toBe(0);
  });

  test('one that is behind gets what it lacks; one that is ahead stays as it is; one that fails leaves nothing', async () => {
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

test('the list has every version once, from 1 on, and names that tell them apart', () => {
  expect(versions(migrations)).toEqual(migrations.map((_, index) => index + 1));
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

describe('Postgres', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  test('several processes that start at once run each migration once, and all of them find the tables', async () => {
    const name = await server.createDatabase();
    const file = await compile(new URL('./migrate-program.ts', import.meta.url));
    const children = Array.from({ length: 5 }, () => start(file, [server.url(name)]));
    for (const child of children) expect(await child.next()).toBe('ready');
    for (const child of children) child.process.stdin?.write('go\n');
    const ran = (await Promise.all(children.map((child) => child.next()))) as number[][];
    expect(ran.flat().sort()).toEqual(versions(migrations));
  });

  test('several connections at once: the same, with migrations that would show if they ran twice', async () => {
    const name = await server.createDatabase();
    const dbs = await Promise.all(Array.from({ length: 5 }, () => openPostgres({ url: server.url(name) })));
    const ran = await Promise.all(dbs.flatMap((db) => [migrate(db, more), migrate(db, more)]));
    expect(versions(ran.flat()).sort()).toEqual([1, 2, 3]);
    expect(await letters(dbs[0] as Database)).toEqual(['a', 'b']);
    for (const db of dbs) await db.close();
  });

  test('a role that may not make the schema is told what it needs; with that it may', async () => {
    const name = await server.createDatabase();
    await server.run(name, 'create role shop login');
    const db = await openPostgres({ url: server.url(name).replace('postgres@', 'shop@') });
    await expect(migrate(db)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/permission denied .*`create schema express_intents authorization <role>`/s),
    });
    await server.run(name, 'create schema express_intents authorization shop');
    expect(await migrate(db)).toEqual(migrations);
    await db.query(`insert into express_intents.intents (id, kind, state) values ('a', 'login', 'open')`);
    await db.close();
  });

  test('a role for which another has migrated needs the grants that the error names, and no more', async () => {
    const name = await server.createDatabase();
    const admin = await openPostgres({ url: server.url(name) });
    await migrate(admin);
    await admin.close();
    await server.run(name, 'create role guest login');
    const db = await openPostgres({ url: server.url(name).replace('postgres@', 'guest@') });
    const error = await requireMigrated(db).catch((failure) => failure);
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    const grants = [...String(error.message).matchAll(/`(grant [^`]+)`/g)].map(([, grant]) => `${grant}`);
    expect(grants).toHaveLength(2);
    for (const grant of grants) await server.run(name, grant.replace('<role>', 'guest'));
    await requireMigrated(db);
    await db.query(`insert into express_intents.intents (id, kind, state) values ('a', 'login', 'creating')`);
    await db.query(`update express_intents.intents set state = 'open'`);
    expect((await db.query('select from express_intents.history')).rowCount).toBe(1);
    await db.close();
  });

  test('a change of a table that is in use lets others through, and is made once the table is free', async () => {
    const name = await server.createDatabase();
    const db = await openPostgres({ url: server.url(name) });
    await migrate(db);
    const reader = new pg.Client({ connectionString: server.url(name) });
    await reader.connect();
    await reader.query('begin isolation level repeatable read; select count(*) from express_intents.intents');
    const sql = 'alter table express_intents.intents add column note text';
    const changing = migrate(db, [...migrations, { version: 2, name: 'note', sql }]);
    const waiting = 'select from pg_locks where not granted and mode = $1';
    await eventually(
      'a lock that is waited for',
      async () => (await server.run(name, waiting, ['AccessExclusiveLock'])).length > 0,
    );
    // Were the lock waited for to the end, this would fail with the timeout of the statement.
    await db.query(`insert into express_intents.intents (id, kind, state) values ('a', 'login', 'open')`);
    await reader.end();
    expect(versions(await changing)).toEqual([2]);
    await db.close();
  });
});
