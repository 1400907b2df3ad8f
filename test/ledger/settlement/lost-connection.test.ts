import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import type { PaymentHookContext, PaymentHooks } from '../../../src/ledger/payment.js';
import { hourMs, SettlementFixture, useDatabase } from './settlement-fixture.js';

// The connection of a hook is lost, and the database answers again at once, on another connection.

describe('a hook that loses its database connection', () => {
  const database = useDatabase('postgres');

  /** Resolves when the server has ended the connection of the transaction. */
  async function endConnection({ tx }: PaymentHookContext): Promise<void> {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.db.query('select pg_terminate_backend($1::int, 60000)', [rows[0]?.pid]);
  }

  async function payAndWork(hooks: PaymentHooks, hookAttempts: number, db?: Database) {
    const ledger = new SettlementFixture(database, { hooks, settings: { hookAttempts }, ...(db && { db }) });
    const id = await ledger.buy();
    return { ledger, id };
  }

  const effects = async (): Promise<readonly unknown[]> => (await database.db.query('select id from effects')).rows;

  it.each<[string, (context: PaymentHookContext) => Promise<unknown>]>([
    ['before a query of tx', ({ tx }) => tx.query('select 1')],
    ['before it succeeds', async () => undefined],
  ])('%s is called again, and no attempt is counted', async (_when, next) => {
    const attempts: number[] = [];
    const onPaid: PaymentHooks['onPaid'] = async ({ id }, context) => {
      attempts.push(context.attempt);
      await context.tx.query('insert into effects values ($1)', [id]);
      if (attempts.length > 1) return;
      await endConnection(context);
      await next(context);
    };
    const { ledger, id } = await payAndWork({ onPaid }, 1);
    expect(await ledger.find(id)).toMatchObject({
      ...{ state: 'submitted', attempts: 0 },
      lastError: expect.stringContaining('The database failed'),
    });
    await ledger.after(5_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0, lastError: undefined });
    expect(attempts).toEqual([1, 1]);
    expect(await effects()).toEqual([{ id }]);
    expect(ledger.log.lines).toEqual([
      expect.stringMatching(`the database failed during onPaid for payment ${id}.* again in about 1 s`),
    ]);
  });

  it('each time becomes a dead letter, and is not exclusive', async () => {
    const attempts: number[] = [];
    const onPaid: PaymentHooks['onPaid'] = async (_payment, context) => {
      attempts.push(context.attempt);
      await endConnection(context);
    };
    const { ledger, id } = await payAndWork({ onPaid }, 2);
    await ledger.after(5_000);
    expect(attempts).toEqual([1, 1]);
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
    const { rows } = await database.db.query('select lane, due_at > now() as waits from express_intents.intents');
    expect(rows).toEqual([{ lane: 'retry', waits: true }]);
    await ledger.after(hourMs);
    expect(attempts).toEqual([1, 1, 2]);
    expect(await ledger.find(id)).toMatchObject({
      ...{ state: 'dead', attempts: 2, deadLetterHook: 'onPaid' },
      lastError: expect.stringContaining('The database failed'),
    });
  });

  it('after the commit is not called again', async () => {
    const { db } = database;
    const losing: Database = {
      isShared: true,
      query: (sql, values) => db.query(sql, values),
      transaction: async (work) => {
        await db.transaction(work);
        throw databaseOutage('The connection was lost during the commit', new Error('Connection terminated'));
      },
      close: async () => undefined,
    };
    const onPaid: PaymentHooks['onPaid'] = async ({ id }, { tx }) => {
      await tx.query('insert into effects values ($1)', [id]);
    };
    const { ledger, id } = await payAndWork({ onPaid }, 1, losing);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
    expect(await effects()).toEqual([{ id }]);
  });
});
