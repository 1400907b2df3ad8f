import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture } from './settlement-fixture.js';

describe('a database without a free transaction', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history');
    await database.setTime('2026-01-01T12:00:00.000Z');
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

  it.each([
    ['within the lease', 0],
    ['after the lease', 31_000],
  ])(
    'and without a free connection releases the claim with the next round %s, without a counted attempt',
    async (_when, afterMs) => {
      const real = database.db;
      const calls: string[] = [];
      let isBusy = false;
      const busy = (call: string): Promise<never> => {
        calls.push(call);
        return Promise.reject(new IntentError('ledger_unavailable', 'All ten database connections are in use.'));
      };
      const db: Database = {
        isShared: true,
        query: (sql, values) => (isBusy ? busy('query') : real.query(sql, values)),
        transaction: (work) => {
          isBusy ||= calls.length === 0;
          return isBusy ? busy('transaction') : real.transaction(work);
        },
        close: () => real.close(),
      };
      const attempts: number[] = [];
      const hooks = { onPaid: (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt) };
      const ledger = new SettlementFixture(database, { db, hooks, timing: { roundMs: 10 } });
      const id = await ledger.create();
      ledger.pay(id);
      await database.advance(5_000);
      await ledger.settlement.round();
      await ledger.settlement.idle();
      expect(calls).toEqual(['transaction', 'query']);
      expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 0 });
      expect(ledger.log.text).toContain('All ten database connections are in use.');
      isBusy = false;
      await database.advance(afterMs);
      ledger.settlement.start();
      // The clock of the database stands still.
      await eventually('the payment settles', async () => (await ledger.find(id)).state === 'settled');
      await ledger.settlement.close();
      expect(attempts).toEqual([1]);
      expect(ledger.log.text).not.toContain('was interrupted');
    },
  );

  it.each([
    ['no connection is free', () => new IntentError('ledger_unavailable', 'All ten database connections are in use.')],
    ['it has an outage', () => databaseOutage('Cannot connect to the database', new Error('too many connections'))],
  ])('because %s does not cause a second release of the claim, nor a recheck', async (_why, error) => {
    const real = database.db;
    let isBusy = true;
    let rounds = 0;
    const extra: string[] = [];
    const db: Database = {
      isShared: true,
      query: (sql, values) => {
        if (sql.includes('first_due')) rounds += 1;
        if (/from unnest|id = any/.test(sql)) extra.push(sql);
        return real.query(sql, values);
      },
      transaction: (work) => (isBusy ? Promise.reject(error()) : real.transaction(work)),
      close: () => real.close(),
    };
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid: () => undefined }, timing: { roundMs: 10 } });
    const id = await ledger.create();
    ledger.pay(id);
    await database.advance(5_000);
    ledger.settlement.start();
    try {
      await eventually('the claim has ended', () => hasEndedClaim(id));
      await ledger.settlement.idle();
      const end = rounds + 5;
      await eventually('five rounds', () => rounds >= end);
      expect(extra).toEqual([]);
      isBusy = false;
      await database.advance(5_000);
      await eventually('the payment settles', async () => (await ledger.find(id)).state === 'settled');
    } finally {
      await ledger.settlement.close();
    }
  });

  /** Whether the payment is submitted and free, and due later. */
  const hasEndedClaim = async (id: string): Promise<boolean> => {
    const sql = `select from express_intents.intents
      where id = $1 and state = 'submitted' and leased_until is null and due_at > now()`;
    return (await database.db.query(sql, [id])).rowCount === 1;
  };

  it('is not caused by the longest timeout that a hook can have', async () => {
    const db = await openDatabase({ database: database.settings, hookTimeoutMs: 2 ** 31 - 1 });
    try {
      expect(await db.transaction(async (tx) => (await tx.query('select 1')).rowCount)).toBe(1);
    } finally {
      await db.close();
    }
  });
});
