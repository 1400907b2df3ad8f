import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { SettlementFixture } from './settlement-fixture.js';

describe('a database without a free transaction', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  });

  it('is not counted as a failure of the hook, however often it happens', async () => {
    const real = database.db;
    let isBusy = true;
    const db: Database = {
      isShared: true,
      query: (sql, values) => real.query(sql, values),
      transaction: (work) =>
        isBusy ? Promise.reject(new IntentError('ledger_unavailable', 'All are taken.')) : real.transaction(work),
      close: () => real.close(),
    };
    const attempts: number[] = [];
    const hooks = { onPaid: (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt) };
    const ledger = new SettlementFixture(database, { db, hooks });
    const id = await ledger.create();
    ledger.pay(id);
    for (let time = 0; time < 10; time += 1) await ledger.after(5_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 0 });
    isBusy = false;
    await ledger.after(5_000);
    expect((await ledger.find(id)).state).toBe('settled');
    expect(attempts).toEqual([1]);
  });

  it('is not caused by the longest timeout that a hook can have', async () => {
    const db = await openDatabase({ database: database.settings, hookTimeoutMs: 2 ** 31 - 1 });
    try {
      expect(await db.transaction(async (tx) => (await tx.query('select 1')).rowCount)).toBe(1);
    } finally {
      await db.close();
    }
  });
});
