import type { Database } from '../../../../src/ledger/database/database.js';
import { openPostgres } from '../../../../src/ledger/database/postgres/postgres.js';
import { prepared } from '../../../../src/ledger/database/prepared.js';
import { type PostgresServer, startPostgres } from '../../../support/databases/postgres-server.js';
import { startPooler } from '../../../support/databases/transaction-pooler.js';

// The calls of a test run one after the other, so they share one connection.

const find = prepared('select name, note from notes where name = $1');
const add = prepared('insert into notes (name, note) values ($1, $2)');

let server: PostgresServer;
let name: string;
let db: Database;

beforeAll(async () => {
  server = await startPostgres();
});

beforeEach(async () => {
  name = await server.createDatabase();
  await server.run(name, `create table notes (name text, note text); insert into notes values ('a', '1')`);
  db = await openPostgres({ url: server.url(name) });
});

afterEach(() => db.close());

const preparedOn = async (on: Pick<Database, 'query'>): Promise<unknown[]> =>
  (await on.query('select statement from pg_prepared_statements order by statement')).rows.map((row) => row.statement);
const pidOf = async (): Promise<unknown> => (await db.query('select pg_backend_pid()::text as pid')).rows[0]?.pid;
const alter = (type: string) => server.run(name, `alter table notes alter note type ${type} using note::${type}`);
/** Unprepares everything in a way that no check of the text can detect. */
const deallocate = `do $$ begin execute 'deallocate all'; end $$`;

describe('a prepared statement', () => {
  it('is named on a direct connection, alone and in a transaction', async () => {
    expect((await db.query(find, ['a'])).rows).toEqual([{ name: 'a', note: '1' }]);
    await db.transaction((tx) => tx.query(add, ['b', '2']));
    expect((await db.query(find, ['b'])).rows).toEqual([{ name: 'b', note: '2' }]);
    expect(await preparedOn(db)).toEqual([add, find]);
    const { rows } = await db.query('select name from pg_prepared_statements');
    for (const row of rows) expect(row.name).toMatch(/^ei_[0-9a-f]{24}$/);
  });

  it('is not named behind a pooler', async () => {
    const pooler = await startPooler(server.socketPath, 'postgres', name);
    const pooled = await openPostgres({ url: `postgres://postgres@127.0.0.1:${pooler.port}/${name}` });
    for (let round = 0; round < 4; round += 1) {
      expect((await pooled.query(find, ['a'])).rows).toEqual([{ name: 'a', note: '1' }]);
      await pooled.transaction((tx) => Promise.all([tx.query(find, ['a']), pooled.query(find, ['a'])]));
      expect(await preparedOn(pooled)).toEqual([]);
    }
    expect(pooler.switches).toBeGreaterThan(0);
    await pooled.close();
  });

  it('is never a statement of the site', async () => {
    type Client = { query(query: unknown, values?: unknown[]): Promise<unknown> };
    const text = 'select name from notes where name = $1';
    await db.query(text, ['a']);
    await db.transaction(async (tx) => {
      await tx.query(text, ['a']);
      await (tx.client as Client).query({ name: 'site', text, values: ['a'] });
      await (tx.client as Client).query(find, ['a']);
    });
    expect(await preparedOn(db)).toEqual([]);
  });

  it('is not deallocated by the site', async () => {
    const refused = { code: 'internal_error', message: expect.stringMatching(/does? not accept|is not accepted/) };
    await expect(db.query('deallocate all')).rejects.toMatchObject(refused);
    await expect(db.transaction((tx) => tx.query('deallocate all'))).rejects.toMatchObject(refused);
  });
});

describe('a prepared statement that the database no longer accepts', () => {
  it.each<[why: string, change: () => Promise<unknown>, note: unknown]>([
    ['the type of its result changed', () => alter('varchar(9)'), '1'],
    ['the type of a column changed to one that its parameter lacks', () => alter('jsonb'), 1],
    ['it was deallocated', () => db.query(deallocate), '1'],
  ])('because %s is repeated, and its connection is replaced', async (_why, change, note) => {
    const other = prepared('update notes set note = $1 where name = $2');
    for (let round = 0; round < 7; round += 1) {
      await db.query(find, ['a']);
      await db.query(other, ['1', 'a']);
    }
    const pid = await pidOf();
    await change();
    expect((await db.query(other, ['1', 'a'])).rowCount).toBe(1);
    expect((await db.query(find, ['a'])).rows).toEqual([{ name: 'a', note }]);
    expect(await pidOf()).not.toBe(pid);
  });

  it('loses no call of ten connections', async () => {
    const readers = Array.from({ length: 30 }, async () => {
      for (let round = 0; round < 30; round += 1) {
        expect((await db.query(find, ['a'])).rows[0]).toMatchObject({ note: '1' });
      }
    });
    for (const type of ['varchar(9)', 'text', 'varchar(8)']) await alter(type);
    await Promise.all(readers);
  });

  it('fails its transaction as a database that is unavailable, and the next transaction succeeds', async () => {
    const work = () => db.transaction(async (tx) => (await tx.query(find, ['a'])).rows, { isHook: true });
    await work();
    await alter('varchar(9)');
    await expect(work()).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('cached plan must not change result type (0A000)'),
    });
    expect(await work()).toEqual([{ name: 'a', note: '1' }]);
  });

  it('reports an error that is its own', async () => {
    const typed = prepared('update notes set note = $1::text');
    await db.query(typed, ['1']);
    await alter('jsonb');
    for (let call = 0; call < 2; call += 1) {
      await expect(db.query(typed, ['1'])).rejects.toMatchObject({ code: '42804' });
    }
    await db.query(find, ['a']);
    const pid = await pidOf();
    await server.run(name, 'drop table notes');
    await expect(db.query(find, ['a'])).rejects.toMatchObject({ code: '42P01' });
    expect(await pidOf()).toBe(pid);
  });
});
