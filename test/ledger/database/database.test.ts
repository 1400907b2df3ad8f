import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../../src/errors.js';
import type { Database, DatabaseTransaction } from '../../../src/ledger/database/database.js';
import { type DatabaseKind, kinds, openTestDatabase } from '../../support/databases/databases.js';

// The behavior that both databases share.

// Opening an embedded database takes seconds on a busy machine.
const opened = new Map<DatabaseKind, Promise<Database>>();

/** A shared database, which is slow to open, and a new table in it. */
async function openWithTable(
  kind: DatabaseKind,
): Promise<{ db: Database; table: string; names: () => Promise<string[]> }> {
  const opening = opened.get(kind) ?? openTestDatabase(kind).then(({ db }) => db);
  opened.set(kind, opening);
  const db = await opening;
  const table = `public.t${process.hrtime.bigint()}`;
  await db.query(
    `create table ${table} (name text primary key, parent text references ${table} (name) deferrable initially deferred)`,
  );
  const names = async (): Promise<string[]> =>
    (await db.query<{ name: string }>(`select name from ${table} order by name`)).rows.map(({ name }) => name);
  return { db, table, names };
}

/** An error of the site's own code. */
class SiteError extends Error {
  readonly code = 'ECONNRESET';
}

describe.each(kinds)('a statement on %s', (kind) => {
  test('accepts and returns text, numbers, booleans, bytes and null', async () => {
    const { db } = await openWithTable(kind);
    const bytes = Uint8Array.from([0, 1, 127, 128, 255]);
    const { rows, rowCount } = await db.query(
      'select $1::text as text, $2::float8 as number, $3::boolean as truth, $4::bytea as bytes, $5::text as nothing',
      ["Zoë's 🦊", 1.5, true, bytes, null],
    );
    expect(rowCount).toBe(1);
    const [{ bytes: given, ...rest } = {}] = rows;
    expect(rest).toEqual({ text: "Zoë's 🦊", number: 1.5, truth: true, nothing: null });
    expect(Uint8Array.from(given as Uint8Array)).toEqual(bytes);
  });

  test('counts the rows that it found, inserted or changed', async () => {
    const { db, table } = await openWithTable(kind);
    const counts = [
      await db.query(`insert into ${table} (name) values ($1), ($2), ($3)`, ['a', 'b', 'c']),
      await db.query(`update ${table} set parent = name where name > $1`, ['a']),
      await db.query(`update ${table} set parent = null where name > $1 returning name`, ['a']),
      await db.query(`select name from ${table} where name = $1`, ['z']),
      await db.query(`select from ${table}`),
      await db.query(`delete from ${table} where name = $1`, ['z']),
    ];
    expect(counts.map(({ rowCount }) => rowCount)).toEqual([3, 2, 2, 0, 3, 0]);
  });

  test('that fails returns the error of the database unchanged, and the next one succeeds', async () => {
    const { db, table } = await openWithTable(kind);
    await db.query(`insert into ${table} (name) values ($1)`, ['a']);
    const error = await db.query(`insert into ${table} (name) values ($1)`, ['a']).catch((failure) => failure);
    expect(error).not.toBeInstanceOf(IntentError);
    expect(error).toMatchObject({ code: '23505' });
    await expect(db.query('no sql')).rejects.toMatchObject({ code: '42601' });
    expect((await db.query('select 1::float8 as one')).rows).toEqual([{ one: 1 }]);
  });
});

describe.each(kinds)('a transaction on %s', (kind) => {
  const insert = (tx: Pick<DatabaseTransaction, 'query'>, table: string, name: string) =>
    tx.query(`insert into ${table} (name) values ($1)`, [name]);

  test('commits its writes and returns the value of the callback', async () => {
    const { db, table, names } = await openWithTable(kind);
    const value = await db.transaction(async (tx) => {
      await insert(tx, table, 'a');
      await insert(tx, table, 'b');
      return 'done';
    });
    expect(value).toBe('done');
    expect(await names()).toEqual(['a', 'b']);
  });

  test('whose callback throws writes nothing and rejects with the same error, whatever its code', async () => {
    const { db, table, names } = await openWithTable(kind);
    const error = new SiteError('The stock service hung up.');
    const work = db.transaction(async (tx) => {
      await insert(tx, table, 'a');
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect(await names()).toEqual([]);
  });

  test.each(['tx', 'tx.client'])('whose callback swallows a failed statement of %s is rolled back', async (sender) => {
    const { db, table, names } = await openWithTable(kind);
    const work = db.transaction(async (tx) => {
      const client = sender === 'tx' ? tx : (tx.client as { query(sql: string): Promise<unknown> });
      await client.query(`insert into ${table} (name) values ('a')`);
      await client.query(`insert into ${table} (name) values ('a')`).catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('rolled back'),
      cause: expect.objectContaining({ code: '23505' }),
    });
    expect(await names()).toEqual([]);
  });

  test('whose commit fails writes nothing and rejects with the error of the database', async () => {
    const { db, table, names } = await openWithTable(kind);
    const work = db.transaction((tx) => tx.query(`insert into ${table} (name, parent) values ('a', 'missing')`));
    await expect(work).rejects.toMatchObject({ code: '23503' });
    expect(await names()).toEqual([]);
  });

  test('has savepoints', async () => {
    const { db, table, names } = await openWithTable(kind);
    await db.transaction(async (tx) => {
      await insert(tx, table, 'a');
      await tx.query('savepoint before');
      await insert(tx, table, 'a').catch(() => undefined);
      await tx.query('rollback to savepoint before');
      await tx.query('ROLLBACK WORK TO before');
      await insert(tx, table, 'b');
    });
    expect(await names()).toEqual(['a', 'b']);
  });

  test('runs concurrent statements one after the other', async () => {
    const { db, table, names } = await openWithTable(kind);
    await db.transaction((tx) => Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => insert(tx, table, name))));
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('runs none of several concurrent statements after the one that failed', async () => {
    const { db, table, names } = await openWithTable(kind);
    const works = Array.from({ length: 3 }, () =>
      db.transaction((tx) =>
        Promise.all([tx.query('no sql'), insert(tx, table, 'a'), insert(tx, table, 'b'), insert(tx, table, 'c')]),
      ),
    );
    for (const result of await Promise.allSettled(works)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: '42601' } });
    }
    await wait(20);
    expect(await names()).toEqual([]);
  });

  test('has a client for query builders, which takes part in it and stays usable after release()', async () => {
    const { db, table, names } = await openWithTable(kind);
    const insertBy = async (tx: DatabaseTransaction, name: string): Promise<void> => {
      const client = tx.client as {
        query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
        release?(error?: unknown): unknown;
      };
      await client.query(`insert into ${table} (name) values ($1)`, [name]);
      expect((await client.query(`select name from ${table} where name = '${name}'`)).rows).toEqual([{ name }]);
      expect(client.release?.()).toBeUndefined();
      client.release?.(new Error('no'));
    };
    await db.transaction(async (tx) => {
      for (const name of ['a', 'b']) await insertBy(tx, name);
      // The connection still belongs to this transaction.
      if (kind === 'postgres') expect(await names()).toEqual([]);
    });
    const failing = db.transaction(async (tx) => {
      await insertBy(tx, 'c');
      throw new SiteError('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await names()).toEqual(['a', 'b']);
  });

  test('is isolated from many concurrent ones', async () => {
    const { db, table, names } = await openWithTable(kind);
    const works = Array.from({ length: 30 }, (_, index) =>
      db.transaction(async (tx) => {
        await insert(tx, table, `n${index}`);
        await wait(Math.random() * 3);
        await insert(tx, table, `n${index}-again`);
        if (index % 3 === 0) throw new SiteError('no');
      }),
    );
    const results = await Promise.allSettled(works);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual(works.map((_, index) => index % 3 !== 0));
    expect(await names()).toHaveLength(40);
  });
});

describe.each(kinds)('close on %s', (kind) => {
  test('waits for a running transaction, then rejects all calls, and may be called twice', async () => {
    const test = await openTestDatabase(kind, { migrated: false });
    await test.db.query('create table public.t (name text)');
    let closing: Promise<void> | undefined;
    await test.db.transaction(async (tx) => {
      closing = test.db.close();
      await wait(20);
      await tx.query(`insert into public.t values ('a')`);
    });
    await closing;
    await test.db.close();
    for (const call of [() => test.db.query('select 1'), () => test.db.transaction(async () => undefined)]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ledger_unavailable',
        message: 'The ledger is closed, because router.close() was called. Await all other calls first.',
      });
    }
    const db = await test.reopen();
    expect((await db.query('select name from public.t')).rows).toEqual([{ name: 'a' }]);
  });
});
