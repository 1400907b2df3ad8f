import type { DatabaseTransaction } from '../../../src/ledger/database/database.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';

// Settling and the effects of a hook commit together only if nothing but the ledger ends the transaction.

/** The interface that both drivers share. */
interface DriverClient {
  query(sql: unknown, values?: unknown): Promise<{ rows: unknown[] }>;
  exec(sql: string): Promise<unknown>;
  readonly [name: string]: unknown;
}

const clientOf = (tx: DatabaseTransaction): DriverClient => tx.client as DriverClient;

describe.each(kinds)('statements in a transaction, on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { migrated: false });
    await database.db.query('create table public.orders (id text primary key)');
  });
  beforeEach(() => database.db.query('delete from public.orders'));

  const insert = (tx: DatabaseTransaction, id: string) => tx.query('insert into public.orders (id) values ($1)', [id]);
  const orders = async (): Promise<string[]> =>
    (await database.db.query<{ id: string }>('select id from public.orders order by id')).rows.map(({ id }) => id);

  /** Writes an order, does something to the transaction, and fails. @returns the result of both */
  async function attack(act: (tx: DatabaseTransaction) => unknown): Promise<{ error: unknown; orders: string[] }> {
    let error: unknown;
    const work = database.db.transaction(async (tx) => {
      await insert(tx, 'a');
      try {
        await act(tx);
      } catch (failure) {
        error = failure;
      }
      throw new Error('The hook has failed.');
    });
    await expect(work).rejects.toThrow();
    return { error, orders: await orders() };
  }

  const texts = [
    'select 1; commit',
    `insert into public.orders values ('b'); rollback`,
    '/* /* nested */ */ commit',
    '-- ends with a carriage return\rcommit',
    '/**/-- a\n;;/* b */ commit',
    'rollback and chain',
    "prepare transaction 'x'",
    'do $$ begin commit; end $$',
  ];

  test.each(texts)('tx.query(%j) cannot end it, with values or without', async (sql) => {
    for (const values of [undefined, []]) {
      const { error, orders } = await attack((tx) => tx.query(sql, values));
      expect(error).toBeInstanceOf(Error);
      expect(orders).toEqual([]);
    }
  });

  test.each(texts)('tx.client.query(%j) cannot end it, in any form of the call', async (sql) => {
    const forms: ((client: DriverClient) => unknown)[] = [
      (client) => client.query(sql),
      (client) => client.query(sql, []),
    ];
    if (kind === 'embedded') forms.push((client) => client.exec(sql));
    if (kind === 'postgres') {
      forms.push(
        (client) => client.query({ text: sql }),
        (client) => client.query({ text: sql, queryMode: 'simple' }),
        (client) => client.query({ name: 'end', text: sql }),
      );
    }
    for (const act of forms) {
      const { error, orders } = await attack((tx) => act(clientOf(tx)));
      expect(error).toBeInstanceOf(Error);
      expect(orders).toEqual([]);
    }
  });

  test('a procedure that commits cannot end it', async () => {
    await database.db.query(`create or replace procedure public.ending() language plpgsql as 'begin commit; end'`);
    const { error, orders } = await attack((tx) => tx.query('call public.ending()'));
    expect(error).toMatchObject({ code: '2D000' });
    expect(orders).toEqual([]);
  });

  test('tx.client has no member that reaches beyond it', async () => {
    const { error } = await attack(async (tx) => {
      const client = clientOf(tx);
      for (const name of ['end', 'connect', 'rollback', 'sql', 'connection', '_connection', 'setTypeParser']) {
        const value = client[name];
        if (typeof value === 'function') expect(value).toThrow(/tx\.client/);
        else expect(value).toBeUndefined();
      }
      // A query object with a `submit` method can send anything.
      const sendsItself = async () => client.query({ text: 'select 1', submit: () => undefined });
      await expect(sendsItself()).rejects.toThrow(/does not accept an object with its own submit\(\)|must be a string/);
    });
    expect(error).toBeUndefined();
  });

  test('a transaction that was ended from within is detected before the commit', async () => {
    const work = database.db.transaction(async (tx) => {
      await insert(tx, 'a');
      // As after a COMMIT and a BEGIN that evaded the check: the settings of the transaction are gone.
      await tx.query('reset all');
    });
    await expect(work).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('ended its own transaction'),
    });
    expect(await orders()).toEqual([]);
  });

  test('a query of tx.client that is not awaited rolls it back', async () => {
    const work = database.db.transaction(async (tx) => {
      await insert(tx, 'a');
      void clientOf(tx).query(`insert into public.orders values ('b')`);
    });
    await expect(work).rejects.toMatchObject({ message: expect.stringContaining('Await every query') });
    expect(await orders()).toEqual([]);
  });

  test('a query after its end is rejected and writes nothing', async () => {
    let late: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await database.db.transaction(async (tx) => {
      await insert(tx, 'a');
      late = new Promise((resolve) => setTimeout(resolve, 20)).then(() =>
        Promise.allSettled([
          insert(tx, 'b'),
          (async () => clientOf(tx).query(`insert into public.orders values ('c')`))(),
        ]),
      );
    });
    for (const result of (await late) ?? [])
      expect(result).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('has ended') } });
    expect(await orders()).toEqual(['a']);
  });

  test('session state that it sets is gone from the connection when it ends', async () => {
    const states = `select current_setting('statement_timeout') as timeout, current_setting('search_path') as path,
      current_setting('default_transaction_read_only') as read_only, current_user::text as role,
      (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
      (select count(*)::int from pg_cursors) as cursors,
      (select count(*)::int from pg_listening_channels()) as channels, to_regclass('pg_temp.kept')::text as kept`;
    const read = () => database.db.transaction(async (tx) => (await tx.query(states)).rows[0]);
    const before = await read();
    await database.db.query('drop role if exists other');
    await database.db.query('create role other');
    const act = async (tx: DatabaseTransaction): Promise<void> => {
      await tx.query(`select set_config('search_path', 'pg_temp', false)`);
      await tx.query('set statement_timeout = 1234');
      await tx.query('set session characteristics as transaction read only');
      await tx.query('select pg_advisory_lock(1)');
      await tx.query('declare kept cursor with hold for select 1');
      await tx.query('listen kept');
      await tx.query('create temp table kept ()');
      await tx.query('set role other');
    };
    await database.db.transaction(act);
    expect(await read()).toEqual(before);
    await attack(act);
    expect(await read()).toEqual(before);
  });
});

describe.each(kinds)('statements outside of a transaction, on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { migrated: false });
    await database.db.query('create table public.orders (id text primary key)');
  });

  test('are rejected when one text has several', async () => {
    for (const values of [undefined, []]) {
      const both = database.db.query(
        `insert into public.orders values ('a'); insert into public.orders values ('b')`,
        values,
      );
      await expect(both).rejects.toMatchObject({ code: '42601' });
    }
    expect((await database.db.query('select from public.orders')).rowCount).toBe(0);
  });

  test('are rejected when they would change the shared connection, and leave no transaction open', async () => {
    const begins = ['begin', 'start transaction', '/* /* */ */ begin'];
    for (const sql of [...begins, 'commit', 'set statement_timeout = 1', 'RESET ALL', 'listen x']) {
      await expect(database.db.query(sql)).rejects.toMatchObject({
        code: 'internal_error',
        message: expect.stringContaining('transaction()'),
      });
    }
    await database.db.query(`insert into public.orders values ('kept')`);
    const db = await database.reopen();
    expect((await db.query('select from public.orders')).rowCount).toBe(1);
  });
});
