import { kinds, openTestDatabase } from '../support/databases.js';

describe.each(kinds)('a test database: %s', (kind) => {
  test('is new, has the tables, and is the same after it was opened again', async () => {
    const one = await openTestDatabase(kind);
    const other = await openTestDatabase(kind);
    const insert = `insert into express_intents.intents (id, kind, state) values ($1, 'login', 'open')`;
    await one.db.query(insert, ['a']);
    expect((await other.db.query('select id from express_intents.intents')).rows).toEqual([]);
    const db = await one.reopen();
    expect((await db.query('select id from express_intents.intents')).rows).toEqual([{ id: 'a' }]);
  });

  test('has a time of its own that can be set and put on, also for defaults, in transactions and when opened again', async () => {
    const test = await openTestDatabase(kind, { fakeTime: true });
    const timeOf = async (sql: string): Promise<unknown> => (await test.db.query<{ t: string }>(sql)).rows[0]?.t;
    const now = 'select extract(epoch from now())::float8 * 1000 as t';
    expect(Math.abs(Number(await timeOf(now)) - Date.now())).toBeLessThan(60_000);
    await test.setTime('2001-02-03T04:05:06.789Z');
    expect(await timeOf(now)).toBe(Date.UTC(2001, 1, 3, 4, 5, 6, 789));
    await test.advance(90_000);
    expect(await timeOf(now)).toBe(Date.UTC(2001, 1, 3, 4, 6, 36, 789));
    await test.db.transaction((tx) =>
      tx.query(`insert into express_intents.intents (id, kind, state) values ('a', 'login', 'open')`),
    );
    await test.reopen();
    expect(await timeOf(now)).toBe(Date.UTC(2001, 1, 3, 4, 6, 36, 789));
    expect(await timeOf('select extract(epoch from created_at)::float8 * 1000 as t from express_intents.intents')).toBe(
      Date.UTC(2001, 1, 3, 4, 6, 36, 789),
    );
  });

  test('has nothing in it when it is asked for without tables', async () => {
    const { db } = await openTestDatabase(kind, { migrated: false });
    await expect(db.query('select from express_intents.intents')).rejects.toMatchObject({ code: '42P01' });
  });
});
