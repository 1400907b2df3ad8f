import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { kinds } from '../../support/databases/databases.js';
import { dayMs, hourMs, SettlementFixture, type SettlementOptions, useDatabase } from './settlement-fixture.js';

// The time in which `verifyPayment` may return true.

describe.each(kinds)('the time for verifyPayment on %s', (kind) => {
  const database = useDatabase(kind);
  const fixture = (options?: SettlementOptions): SettlementFixture => new SettlementFixture(database, options);

  /** Hooks whose `verifyPayment` returns false, and then true. */
  const verifiedAtSecondCall = (): PaymentHooks => {
    const answers = [false];
    return { verifyPayment: () => answers.shift() ?? true };
  };

  it('starts with the submission of a payment that is found after its polls have ended', async () => {
    const ledger = fixture({ hooks: verifiedAtSecondCall() });
    const id = await ledger.create();
    for (let step = 0; step < 4; step += 1) await ledger.after(31 * dayMs);
    expect(await ledger.find(id)).toMatchObject({ state: 'expired', dueAt: undefined });
    ledger.pay(id);
    void ledger.settlement.recheck(id);
    await ledger.work();
    expect((await ledger.find(id)).state).toBe('submitted');
    await ledger.after(5_000);
    expect(await ledger.path(id)).toBe('created > expired > submitted > settled');
  });

  it('starts after a settleDelayMs that is longer than the watch', async () => {
    const ledger = fixture({
      settings: { settleDelayMs: 2 * dayMs, watchMs: dayMs },
      hooks: verifiedAtSecondCall(),
    });
    const id = await ledger.create();
    await database.db.query(`update express_intents.payments set watch_until = now() + interval '1 day'`);
    ledger.pay(id);
    await ledger.after(5_000);
    await ledger.after(2 * dayMs);
    expect((await ledger.find(id)).state).toBe('submitted');
    await ledger.after(dayMs);
    expect(await ledger.path(id)).toBe('created > submitted > settled');
  });

  it('ends watchMs after the submission', async () => {
    const ledger = fixture({ settings: { watchMs: 5 * dayMs }, hooks: { verifyPayment: () => false } });
    const id = await ledger.create();
    await ledger.after(31 * dayMs);
    ledger.pay(id);
    await ledger.after(1.2 * dayMs);
    for (let step = 0; step < 4; step += 1) await ledger.after(dayMs);
    expect((await ledger.find(id)).state).toBe('submitted');
    for (let step = 0; step < 3; step += 1) await ledger.after(dayMs + hourMs);
    expect(await ledger.find(id)).toMatchObject({ state: 'dead', deadLetterHook: 'verifyPayment' });
  });
});
