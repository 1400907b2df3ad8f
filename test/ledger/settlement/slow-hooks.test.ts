import type { Payment } from '../../../src/ledger/payment.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

// Payments whose hook hangs, together with payments that settle.

const never = (): Promise<never> => new Promise(() => undefined);

describe('hooks that hang', () => {
  const database = useDatabase('postgres');

  async function createPaid(ledger: SettlementFixture, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push(await ledger.create());
    for (const id of ids) ledger.pay(id);
    await database.advance(5_000);
    return ids;
  }

  /** A ledger whose hook fails once for these payments and hangs from then on. */
  function hangingLedger(hookTimeoutMs: number) {
    const hanging = new Set<string>();
    const running = new Set<string>();
    let most = 0;
    let failsFirst = true;
    const onPaid = async ({ id }: Payment): Promise<void> => {
      if (!hanging.has(id)) return;
      if (failsFirst) throw new Error('no');
      running.add(id);
      most = Math.max(most, running.size);
      await never();
    };
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid },
      settings: { hookTimeoutMs, hookAttempts: 15, settlementConcurrency: 24 },
      timing: { roundMs: 10, retryFirstMs: 1, closeMs: 20 },
    });
    const hang = (): void => {
      failsFirst = false;
    };
    return { ledger, hanging, running, most: () => most, hang };
  }

  it('use at most half of the places for retries, so the first call of another payment starts', async () => {
    const { ledger, hanging, running, hang } = hangingLedger(60_000);
    for (const id of await createPaid(ledger, 12)) hanging.add(id);
    await ledger.work();
    hang();
    await database.advance(1_000);
    await ledger.settlement.round();
    await eventually('retries hang', () => running.size === 3);
    const others = await createPaid(ledger, 20);
    await ledger.settlement.round();
    await eventually('the others settle', async () => {
      const found = await Promise.all(others.map((id) => ledger.find(id)));
      return found.every(({ state }) => state === 'settled');
    });
    expect(running.size).toBe(3);
    await ledger.settlement.close();
  });

  it('run one at a time after two timeouts, with a longer pause after each', async () => {
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid: never },
      settings: { hookTimeoutMs: 40, hookAttempts: 15 },
      timing: { retryFirstMs: 1 },
    });
    const { settlement } = ledger;
    await createPaid(ledger, 3);
    const pauses = async (): Promise<number[]> => {
      const { rows } = await database.db.query<{ ms: number }>(
        `select extract(epoch from due_at - now())::float8 * 1000 as ms from express_intents.payments
         where due_at > now() order by due_at`,
      );
      return rows.map(({ ms }) => ms);
    };
    const claimed: number[] = [];
    for (const expectedMs of [40, 80, 160]) {
      claimed.push(await settlement.round());
      await settlement.idle();
      for (const ms of await pauses()) {
        expect(ms).toBeGreaterThanOrEqual(0.9 * expectedMs);
        expect(ms).toBeLessThanOrEqual(1.1 * expectedMs);
      }
      await database.advance(1_000);
    }
    expect(claimed).toEqual([3, 3, 1]);
  });
});
