import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { eventually } from '../../support/eventually.js';
import { insertPayments } from '../proof/insert-payments.js';
import { statementName } from '../proof/statement-name.js';
import { watchedDatabase } from '../proof/watched-database.js';
import { dayMs, SettlementFixture, type SettlementOptions, useDatabase } from './settlement-fixture.js';

describe('the statements of a settlement', () => {
  const database = useDatabase('postgres');

  /** @returns a ledger, and the writes to its payments, in order */
  function watched(hooks: PaymentHooks, options: SettlementOptions = {}) {
    const writes: string[] = [];
    const db = watchedDatabase(database.db, (point) => {
      if (/^after (?!claim)/.test(point)) writes.push(point.replace('after ', ''));
    });
    return { writes, ledger: new SettlementFixture(database, { db, hooks, ...options }) };
  }

  it('are one write before the hook and one in its transaction', async () => {
    const { writes, ledger } = watched({ onPaid: () => undefined });
    const id = await ledger.buy();
    expect((await ledger.find(id)).state).toBe('settled');
    expect(writes).toEqual(['submit', 'the begin', 'settle', 'the commit']);
  });

  it('are planned five times on each connection, and then never again', async () => {
    const ledger = new SettlementFixture(database, { hooks: { onPaid: () => undefined } });
    // With rows and statistics, a plan for one payment looks cheaper than the plan for any number.
    await insertPayments(database.db, 2_000, 30 * dayMs);
    await database.db.query('analyze');
    for (let bought = 0; bought < 12; bought += 1) await ledger.buy();
    const { rows } = await database.db.query<{ statement: string; custom_plans: unknown }>(
      'select statement, custom_plans from pg_prepared_statements where generic_plans + custom_plans > 6',
    );
    expect(rows.map(({ statement }) => statementName(statement)).sort()).toEqual(
      expect.arrayContaining(['claim due', 'settle', 'submit']),
    );
    for (const { custom_plans } of rows) expect(String(custom_plans)).toBe('5');
  });

  it.each<[what: string, hooks: PaymentHooks, login: boolean]>([
    ['verifyPayment', { onPaid: () => undefined, verifyPayment: () => true }, false],
    ['the user id', { onPaid: () => undefined }, true],
  ])('submit a payment before %s is awaited', async (_what, hooks, login) => {
    const { writes, ledger } = watched(hooks, { fetchUserId: async () => 'ada' });
    const id = await ledger.create({ login });
    ledger.pay(id);
    await ledger.after(5_000);
    expect((await ledger.find(id)).state).toBe('settled');
    expect(writes.slice(0, 2)).toEqual(['submit', login ? 'record the user id' : 'startHook']);
  });

  it('submit a payment whose hook must wait for a slot, without starting the hook', async () => {
    const release: (() => void)[] = [];
    const onPaid = () => new Promise<void>((resolve) => void release.push(resolve));
    const { writes, ledger } = watched({ onPaid }, { timing: { hookConcurrency: 1 } });
    for (const id of [await ledger.create(), await ledger.create()]) ledger.pay(id);
    await database.advance(5_000);
    await ledger.settlement.round();
    await eventually(() =>
      expect([release.length, writes.filter((write) => write === 'submit')]).toEqual([1, ['submit']]),
    );
    const { rows } = await database.db.query(
      'select state, running_hook from express_intents.payments order by running_hook',
    );
    expect(rows).toEqual([
      { state: 'submitted', running_hook: 'onPaid' },
      { state: 'submitted', running_hook: null },
    ]);
    release[0]?.();
    await eventually(() => expect(release).toHaveLength(2));
    release[1]?.();
    await ledger.settlement.idle();
    expect(writes.filter((write) => write === 'settle')).toHaveLength(2);
    expect(writes.filter((write) => write === 'startHook')).toHaveLength(1);
  });
});
