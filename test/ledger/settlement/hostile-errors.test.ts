import { hourMs, SettlementFixture, useDatabase } from './settlement-fixture.js';

class Unreadable extends Error {
  override get message(): string {
    throw this;
  }
}

/** Values that JavaScript can throw. */
const thrown: [string, () => unknown][] = [
  ['null', () => null],
  ['undefined', () => undefined],
  ['a text', () => 'no'],
  ['a symbol', () => Symbol('no')],
  ['an object without a prototype', () => Object.create(null)],
  ['an error whose message throws', () => new Unreadable()],
  ['an error with a NUL', () => new Error('a\0b')],
  ['an error with half a character', () => new Error('a\ud800b')],
  ['an error of a megabyte', () => new Error('x'.repeat(1_000_000))],
];

describe('a hook that throws', () => {
  const database = useDatabase('postgres');

  it.each(thrown)(
    '%s: the error is recorded and the hook retried until the payment is a dead letter',
    async (_name, make) => {
      const attempts: number[] = [];
      const ledger = new SettlementFixture(database, {
        hooks: {
          onPaid: (_payment, { attempt }) => {
            attempts.push(attempt);
            throw make();
          },
        },
      });
      const id = await ledger.create();
      ledger.pay(id);
      // Earlier than the end of the lease.
      for (const ms of [5_000, 5_000, 5_000]) await ledger.after(ms);
      expect(attempts).toEqual([1, 2, 3]);
      const { state, lastError = '' } = await ledger.find(id);
      expect(state).toBe('dead');
      expect(lastError).not.toBe('');
      expect(lastError.length).toBeLessThanOrEqual(1_000);
    },
  );

  it.each(thrown)('%s in verifyPayment: the hook is retried, soon at first', async (_name, make) => {
    let calls = 0;
    const ledger = new SettlementFixture(database, {
      hooks: {
        verifyPayment: () => {
          calls += 1;
          if (calls < 3) throw make();
          return true;
        },
      },
    });
    const id = await ledger.create();
    ledger.pay(id);
    for (const ms of [5_000, 5_000, 5_000]) await ledger.after(ms);
    expect(calls).toBe(3);
    expect((await ledger.find(id)).state).toBe('settled');
    await ledger.after(hourMs);
  });
});
