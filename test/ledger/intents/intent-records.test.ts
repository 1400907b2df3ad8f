import { canCompleteLogin, completeLoginOnce, reopenLogin } from '../../../src/ledger/intents/complete-login.js';
import { findIntent, findPaymentsFor, historyOf, listIntents } from '../../../src/ledger/intents/find-intents.js';
import {
  confirmIntent,
  findRepeated,
  recordIntent,
  reserveIntent,
  retryIntent,
} from '../../../src/ledger/intents/record-intent.js';
import type { NewIntent, RecordedTerms } from '../../../src/ledger/ledger.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';

const start = '2026-01-01T12:00:00.000Z';
const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).fill(7);
const otherBrowser = new Uint8Array(32).fill(8);
const idempotency = { key: 'key-1', fingerprint: new Uint8Array(32).fill(1), sealedSecret: 'sealed' };
const terms: RecordedTerms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  login: false,
  resource: 'article:tea',
  metadata: { order: 42, note: 'quotes \' " and \\, \u{1f375} and a zero: \\u0000' },
};

const idOf = (number: number): string => `intent${String(number).padStart(38, '1')}`;
const payment = (number: number, changes: Partial<RecordedTerms> = {}): NewIntent => ({
  id: idOf(number),
  terms: { ...terms, ...changes },
  browser,
});
const login = (number: number): NewIntent => ({ id: idOf(number), terms: undefined, browser });

describe.each(kinds)('the records of intents on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history');
    await database.setTime(start);
  });
  const find = (number: number) => findIntent(database.db, idOf(number));
  const set = (number: number, changes: string) =>
    database.db.query(`update express_intents.intents set ${changes} where id = $1`, [idOf(number)]);

  it('keep a payment as it was given, to be looked at soon', async () => {
    await recordIntent(database.db, payment(1), times);
    expect(await find(1)).toEqual({
      id: idOf(1),
      kind: 'payment',
      state: 'open',
      ...terms,
      userId: undefined,
      createdAt: new Date(start),
      submittedAt: undefined,
      settledAt: undefined,
      reversedAt: undefined,
      loginCompletedAt: undefined,
      dueAt: new Date(Date.parse(start) + 2_000),
      attempts: 0,
      deadLetterHook: undefined,
      lastError: undefined,
    });
    expect(await find(2)).toBeUndefined();
  });

  it('keep the largest amount there can be to the last hundredth', async () => {
    await recordIntent(database.db, payment(1, { amount: '720575940379279.35' }), times);
    expect((await find(1))?.amount).toBe('720575940379279.35');
  });

  it('keep a login, at which nobody need look', async () => {
    await recordIntent(database.db, login(1), times);
    expect(await find(1)).toMatchObject({ kind: 'login', state: 'open', amount: undefined, dueAt: undefined });
  });

  it('refuse the same intent a second time', async () => {
    await recordIntent(database.db, payment(1), times);
    await expect(recordIntent(database.db, payment(1, { amount: '0.05' }), times)).rejects.toThrow();
    expect((await find(1))?.amount).toBe('4.50');
  });

  it.each([
    ['amount', '0.05'],
    ['currency', "'eur'"],
    ['destination', "'elsewhere'"],
    ['login', 'true'],
    ['resource', "'article:all'"],
    ['metadata', "'{}'"],
    ['browser', "'\\x00'"],
    ['created_at', 'now()'],
    ['kind', "'login'"],
  ])('let nobody change %s', async (column, value) => {
    await recordIntent(database.db, payment(1), times);
    await database.advance(1_000);
    await expect(set(1, `${column} = ${value}`)).rejects.toThrow();
    expect(await find(1)).toMatchObject(terms);
  });

  it.each(['settled', 'dead', 'reversed', 'creating'])('let nobody go from open to %s', async (state) => {
    await recordIntent(database.db, payment(1), times);
    await expect(set(1, `state = '${state}'`)).rejects.toThrow(/does not go from open to/);
    expect(await historyOf(database.db, idOf(1))).toEqual([]);
  });

  it('of logins are never settled, nor looked at', async () => {
    await recordIntent(database.db, login(1), times);
    await expect(set(1, "state = 'submitted'")).rejects.toThrow();
    await expect(set(1, 'due_at = now()')).rejects.toThrow();
  });

  it('note each change of a state, with its time', async () => {
    await recordIntent(database.db, payment(1), times);
    await set(1, "state = 'submitted', attempts = 2");
    await set(1, "state = 'settled', attempts = 0");
    const changes = await historyOf(database.db, idOf(1));
    expect(changes).toEqual([
      { at: expect.any(Date), from: 'open', to: 'submitted', attempts: 0 },
      { at: expect.any(Date), from: 'submitted', to: 'settled', attempts: 2 },
    ]);
  });

  describe('under an idempotency key', () => {
    it('are written once: who comes second gets what the first has left', async () => {
      expect(await reserveIntent(database.db, payment(1), idempotency)).toBe(true);
      expect(await reserveIntent(database.db, payment(2, { amount: '9.00' }), idempotency)).toBe(false);
      expect(await find(2)).toBeUndefined();
      expect(await findRepeated(database.db, browser, 'key-1')).toEqual({
        ...{ id: idOf(1), state: 'creating', terms },
        ...{ fingerprint: idempotency.fingerprint, sealedSecret: 'sealed' },
      });
    });

    it('are written once by twenty at the same time', async () => {
      const all = Array.from({ length: 20 }, (_, number) => reserveIntent(database.db, payment(number), idempotency));
      expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1);
    });

    it('are another browser’s own', async () => {
      await reserveIntent(database.db, payment(1), idempotency);
      expect(await findRepeated(database.db, otherBrowser, 'key-1')).toBeUndefined();
      expect(await reserveIntent(database.db, { ...payment(2), browser: otherBrowser }, idempotency)).toBe(true);
    });

    it('are looked at from the moment they are confirmed, however often', async () => {
      await reserveIntent(database.db, payment(1), idempotency);
      expect(await find(1)).toMatchObject({ state: 'creating', dueAt: undefined });
      await confirmIntent(database.db, idOf(1), times);
      await database.advance(10_000);
      await confirmIntent(database.db, idOf(1), times);
      expect(await find(1)).toMatchObject({ state: 'open', dueAt: new Date(Date.parse(start) + 2_000) });
    });

    it('that are not there cannot be confirmed', async () => {
      await expect(confirmIntent(database.db, idOf(1), times)).rejects.toMatchObject({ code: 'internal_error' });
    });

    it('may be logins', async () => {
      await reserveIntent(database.db, login(1), idempotency);
      expect(await findRepeated(database.db, browser, 'key-1')).toMatchObject({ id: idOf(1), terms: undefined });
    });
  });

  describe('of a login', () => {
    const attempt = { id: idOf(1), browser, ttlMs: 120_000, userId: 'ada' };
    const complete = (changes = {}) =>
      completeLoginOnce(database.db, { ...attempt, ...changes }, async () => undefined);
    const canComplete = (by = browser) => canCompleteLogin(database.db, idOf(1), by, attempt.ttlMs);

    it('let it be completed once, by the browser that began it', async () => {
      await recordIntent(database.db, login(1), times);
      expect([await canComplete(), await canComplete(otherBrowser)]).toEqual([true, false]);
      expect(await complete({ browser: otherBrowser })).toBe(false);
      expect(await complete()).toBe(true);
      expect([await canComplete(), await complete()]).toEqual([false, false]);
      expect(await find(1)).toMatchObject({ userId: 'ada', loginCompletedAt: new Date(start) });
    });

    it('let one of many at the same time complete it', async () => {
      await recordIntent(database.db, login(1), times);
      const all = await Promise.all(Array.from({ length: 20 }, () => complete()));
      expect(all.filter(Boolean)).toHaveLength(1);
    });

    it('let nobody complete it after its time, by the time of the database', async () => {
      await recordIntent(database.db, login(1), times);
      await database.advance(119_999);
      expect(await canComplete()).toBe(true);
      await database.advance(1);
      expect([await canComplete(), await complete()]).toEqual([false, false]);
    });

    it('let it be completed again when what belongs to it was rolled back, or was undone', async () => {
      await recordIntent(database.db, login(1), times);
      const fails = completeLoginOnce(database.db, attempt, async () => {
        throw new Error('the users are locked');
      });
      await expect(fails).rejects.toThrow('the users are locked');
      expect(await complete()).toBe(true);
      await reopenLogin(database.db, idOf(1));
      expect(await complete()).toBe(true);
    });

    it('take a payment that logs in for one, and no other payment', async () => {
      await recordIntent(database.db, payment(1, { login: true }), times);
      expect(await complete()).toBe(true);
      await recordIntent(database.db, payment(2), times);
      expect(await complete({ id: idOf(2) })).toBe(false);
    });

    it('take none that the sequencer has not accepted', async () => {
      await reserveIntent(database.db, login(1), idempotency);
      expect([await canComplete(), await complete()]).toEqual([false, false]);
    });
  });

  it('of a browser and a resource: settled ones first, the largest first; then those that may settle', async () => {
    for (const [number, amount] of ['1.00', '3.00', '2.00', '9.00', '8.00'].entries()) {
      await recordIntent(database.db, payment(number, { amount }), times);
    }
    await recordIntent(database.db, payment(5, { resource: 'article:coffee' }), times);
    await recordIntent(database.db, { ...payment(6), browser: otherBrowser }, times);
    for (const number of [0, 1, 2, 5, 6]) {
      await set(number, "state = 'submitted'");
      await set(number, "state = 'settled'");
    }
    await set(4, "state = 'expired'");
    const found = await findPaymentsFor(database.db, browser, 'article:tea');
    expect(found.map(({ amount, state }) => `${amount} ${state}`)).toEqual([
      ...['3.00 settled', '2.00 settled', '1.00 settled'],
      '9.00 open',
    ]);
  });

  describe('in a list', () => {
    beforeEach(async () => {
      for (let number = 0; number < 7; number += 1) {
        await recordIntent(database.db, payment(number), times);
        if (number % 2 === 1) await database.advance(1_000);
      }
    });
    const numbers = (intents: readonly { readonly id: string }[]) => intents.map(({ id }) => Number(id.slice(-1)));

    it('come the newest first, a page after the other, each once, also those of one moment', async () => {
      const seen: number[] = [];
      let after: string | undefined;
      do {
        const page = await listIntents(database.db, { limit: 3, after });
        seen.push(...numbers(page.intents));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
    });

    it('keep their pages when new ones come in between', async () => {
      const first = await listIntents(database.db, { limit: 3 });
      await recordIntent(database.db, payment(8), times);
      const second = await listIntents(database.db, { limit: 10, after: first.next });
      expect(numbers(second.intents)).toEqual([3, 2, 1, 0]);
      expect(second.next).toBeUndefined();
    });

    it('may be of one state', async () => {
      await set(3, "state = 'expired'");
      expect(numbers((await listIntents(database.db, { state: 'expired' })).intents)).toEqual([3]);
      expect((await listIntents(database.db, { state: 'dead' })).intents).toEqual([]);
    });

    it.each([
      [{ limit: 0 }],
      [{ limit: 1_001 }],
      [{ limit: 1.5 }],
      [{ state: 'paid' as 'open' }],
      [{ after: '' }],
      [{ after: 'x' }],
      [{ after: Buffer.from("2026-01-01 12:00:00+00|'; drop table x; --").toString('base64url') }],
    ])('are refused for %j', async (options) => {
      await expect(listIntents(database.db, options)).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });

  it('that were given up can be taken up again, and no others', async () => {
    for (const number of [0, 1, 2, 3]) await recordIntent(database.db, payment(number), times);
    await set(0, "state = 'expired', due_at = null");
    await set(1, "state = 'submitted'");
    await set(1, "state = 'dead', dead_letter_hook = 'onPaid', due_at = null");
    await set(2, "state = 'submitted'");
    await set(2, "state = 'settled'");
    await database.advance(40 * 86_400_000);
    const results = await Promise.all(
      [0, 1, 2, 3, 4].map((number) => retryIntent(database.db, idOf(number), times.watchMs)),
    );
    expect(results).toEqual([true, true, false, false, false]);
    expect(await find(0)).toMatchObject({ state: 'open', dueAt: new Date(Date.parse(start) + 40 * 86_400_000) });
    expect(await find(1)).toMatchObject({ state: 'submitted', deadLetterHook: undefined, attempts: 0 });
  });
});
