import { kinds } from '../../support/databases/databases.js';
import {
  dayMs,
  hourMs,
  minuteMs,
  SettlementFixture,
  type SettlementOptions,
  useDatabase,
} from './settlement-fixture.js';

// Payments made after the watch has ended, and clocks that jump.

describe.each(kinds)('an intent that stays unpaid for long, on %s', (kind) => {
  const database = useDatabase(kind);
  const fixture = (options?: SettlementOptions): SettlementFixture => new SettlementFixture(database, options);

  async function createExpired(ledger: SettlementFixture): Promise<string> {
    const id = await ledger.create();
    await ledger.after(31 * dayMs);
    expect(await ledger.path(id)).toBe('created > expired');
    return id;
  }

  it('settles when it is paid after it expired', async () => {
    const late: boolean[] = [];
    const ledger = fixture({ hooks: { onPaid: (_payment, context) => void late.push(context.late) } });
    const id = await createExpired(ledger);
    ledger.pay(id);
    await ledger.after(1.2 * dayMs);
    expect(await ledger.path(id)).toBe('created > expired > submitted > settled');
    expect(late).toEqual([true]);
  });

  it('is polled on request after the daily polls have ended', async () => {
    const ledger = fixture();
    const id = await createExpired(ledger);
    await ledger.after(31 * dayMs);
    await ledger.after(2 * dayMs);
    expect((await ledger.find(id)).dueAt).toBeUndefined();
    ledger.pay(id);
    await ledger.work();
    expect((await ledger.find(id)).state).toBe('expired');
    const rechecked = ledger.settlement.recheck(id);
    await ledger.work();
    await rechecked;
    expect((await ledger.find(id)).state).toBe('settled');
  });

  describe('while the clock of the database jumps', () => {
    it.each([
      ['an hour', hourMs],
      ['40 days', 40 * dayMs],
    ])('forward by %s and back, settles as soon as without the jump', async (_what, jumpMs) => {
      const ledger = fixture();
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) ids.push(await ledger.create());
      await ledger.after(minuteMs);
      await ledger.after(jumpMs);
      await database.advance(-jumpMs);
      await correctDueTimes(ledger);
      const intents = await Promise.all(ids.map((id) => ledger.find(id)));
      expect(intents.map(({ state }) => state)).toEqual(ids.map(() => 'created'));
      for (const id of ids) ledger.pay(id);
      await ledger.after(minuteMs);
      for (const id of ids) expect((await ledger.find(id)).state).toBe('settled');
    });

    it('forward by 70 days and back, is polled again', async () => {
      const ledger = fixture();
      const ended = await ledger.create();
      ledger.pay(ended);
      await ledger.after(5_000);
      await ledger.after(2 * dayMs);
      const [expired, settled, reversed] = [await createExpired(ledger), await ledger.create(), await ledger.create()];
      for (const id of [settled, reversed]) ledger.pay(id);
      await ledger.after(5_000);
      ledger.reverse(reversed);
      await ledger.after(minuteMs);
      await ledger.after(minuteMs);
      const ids = [expired, settled, reversed];
      const dueTimes = () => Promise.all([ended, ...ids].map(async (id) => (await ledger.find(id)).dueAt));
      await ledger.after(70 * dayMs);
      await database.advance(-70 * dayMs);
      await correctDueTimes(ledger);
      // The polls of the first had ended before the jump.
      expect(await dueTimes()).toEqual([undefined, ...ids.map(() => expect.any(Date))]);
      for (const id of [expired, reversed]) ledger.pay(id);
      ledger.reverse(settled);
      for (let step = 0; step < 3; step += 1) await ledger.after(1.2 * dayMs);
      expect(await Promise.all(ids.map(async (id) => (await ledger.find(id)).state))).toEqual([
        'settled',
        'reversed',
        'settled',
      ]);
    });

    it('is released when a process claimed it with a lease in the future and ended', async () => {
      const ledger = fixture();
      const id = await ledger.create();
      ledger.pay(id);
      // The row that a process leaves which claimed it while the clock was ahead, and then died.
      await database.db.query(
        `update express_intents.payments set leased_until = now() + interval '40 days', lease_token = 1`,
      );
      await ledger.after(minuteMs);
      expect((await ledger.find(id)).state).toBe('settled');
    });
  });

  /** Corrects due times, as a process does every few seconds, and does the due work. */
  async function correctDueTimes(ledger: SettlementFixture): Promise<void> {
    await ledger.settlement.correctDueTimes();
    await ledger.work();
  }
});
