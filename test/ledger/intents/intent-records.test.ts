import { canCompleteLogin, completeLoginOnce, reopenLogin } from '../../../src/ledger/intents/complete-login.js';
import {
  findByIdempotencyKey,
  findIntent,
  findPaymentsFor,
  historyOf,
} from '../../../src/ledger/intents/find-intents.js';
import { IntentRecorder } from '../../../src/ledger/intents/intent-recorder.js';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import { retryIntent } from '../../../src/ledger/intents/retry-intent.js';
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
  description: 'Tea, 100 g \u{1f375}',
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

describe.each(kinds)('the recorded intents on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history');
    await database.setTime(start);
  });
  const recorder = () => new IntentRecorder(database.db, times);
  const find = (number: number) => findIntent(database.db, idOf(number));
  const set = (number: number, changes: string) =>
    database.db.query(`update express_intents.intents set ${changes} where id = $1`, [idOf(number)]);

  it('keep the terms of a payment, and are polled soon', async () => {
    await recordIntents(database.db, [payment(1)], times);
    expect(await find(1)).toEqual({
      id: idOf(1),
      kind: 'payment',
      state: 'created',
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

  it('keep the largest possible amount to the last hundredth', async () => {
    await recordIntents(database.db, [payment(1, { amount: '720575940379279.35' })], times);
    expect((await find(1))?.amount).toBe('720575940379279.35');
  });

  it('keep a login, which is not polled', async () => {
    await recordIntents(database.db, [login(1)], times);
    expect(await find(1)).toMatchObject({ kind: 'login', state: 'created', amount: undefined, dueAt: undefined });
  });

  it('reject a duplicate intent', async () => {
    await recordIntents(database.db, [payment(1)], times);
    await expect(recordIntents(database.db, [payment(1, { amount: '0.05' })], times)).rejects.toThrow();
    expect((await find(1))?.amount).toBe('4.50');
  });

  it.each([
    ['amount', '0.05'],
    ['currency', "'eur'"],
    ['destination', "'elsewhere'"],
    ['description', "'gold'"],
    ['login', 'true'],
    ['resource', "'article:all'"],
    ['metadata', "'{}'"],
    ['browser', "'\\x00'"],
    ['created_at', 'now()'],
    ['kind', "'login'"],
  ])('do not allow a change of %s', async (column, value) => {
    await recordIntents(database.db, [payment(1)], times);
    await database.advance(1_000);
    await expect(set(1, `${column} = ${value}`)).rejects.toThrow();
    expect(await find(1)).toMatchObject(terms);
  });

  it.each(['settled', 'dead', 'reversed', 'creating'])('do not allow a change from created to %s', async (state) => {
    await recordIntents(database.db, [payment(1)], times);
    await expect(set(1, `state = '${state}'`)).rejects.toThrow(/cannot change from created to/);
    expect(await historyOf(database.db, idOf(1))).toEqual([]);
  });

  it('of logins cannot be submitted or polled', async () => {
    await recordIntents(database.db, [login(1)], times);
    await expect(set(1, "state = 'submitted'")).rejects.toThrow();
    await expect(set(1, 'due_at = now()')).rejects.toThrow();
    await recordIntents(database.db, [payment(2)], times);
    await expect(set(2, "state = 'completed'")).rejects.toThrow();
  });

  it('have a history of state changes, with times', async () => {
    await recordIntents(database.db, [payment(1)], times);
    await set(1, "state = 'submitted', attempts = 2");
    await set(1, "state = 'settled', attempts = 0");
    const changes = await historyOf(database.db, idOf(1));
    expect(changes).toEqual([
      { at: expect.any(Date), from: 'created', to: 'submitted', attempts: 0 },
      { at: expect.any(Date), from: 'submitted', to: 'settled', attempts: 2 },
    ]);
  });

  describe('under an idempotency key', () => {
    it('are reserved once; a second request gets the first one', async () => {
      expect(await recorder().reserve({ intent: payment(1), idempotency })).toBe(true);
      expect(await recorder().reserve({ intent: payment(2, { amount: '9.00' }), idempotency })).toBe(false);
      expect(await find(2)).toBeUndefined();
      expect(await findByIdempotencyKey(database.db, browser, 'key-1')).toEqual({
        ...{ id: idOf(1), state: 'creating', terms },
        ...{ fingerprint: idempotency.fingerprint, sealedSecret: 'sealed' },
      });
    });

    it('are reserved once by twenty concurrent requests', async () => {
      const all = Array.from({ length: 20 }, (_, number) =>
        recorder().reserve({ intent: payment(number), idempotency }),
      );
      expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1);
    });

    it('are separate for each browser', async () => {
      await recorder().reserve({ intent: payment(1), idempotency });
      expect(await findByIdempotencyKey(database.db, otherBrowser, 'key-1')).toBeUndefined();
      expect(await recorder().reserve({ intent: { ...payment(2), browser: otherBrowser }, idempotency })).toBe(true);
    });

    it('are polled from the first confirmation on, however often they are confirmed', async () => {
      await recorder().reserve({ intent: payment(1), idempotency });
      expect(await find(1)).toMatchObject({ state: 'creating', dueAt: undefined });
      await recorder().confirm(idOf(1));
      await database.advance(10_000);
      await recorder().confirm(idOf(1));
      expect(await find(1)).toMatchObject({ state: 'created', dueAt: new Date(Date.parse(start) + 2_000) });
    });

    it('that do not exist cannot be confirmed', async () => {
      await expect(recorder().confirm(idOf(1))).rejects.toMatchObject({ code: 'internal_error' });
    });

    it('can be logins', async () => {
      await recorder().reserve({ intent: login(1), idempotency });
      expect(await findByIdempotencyKey(database.db, browser, 'key-1')).toMatchObject({
        id: idOf(1),
        terms: undefined,
      });
    });
  });

  describe('of a login', () => {
    const attempt = { id: idOf(1), browser, ttlMs: 120_000, userId: 'ada' };
    const complete = (changes = {}) =>
      completeLoginOnce(database.db, { ...attempt, ...changes }, async () => undefined);
    const canComplete = (by = browser) => canCompleteLogin(database.db, idOf(1), by, attempt.ttlMs);

    it('are completed once, by the browser that created the login', async () => {
      await recordIntents(database.db, [login(1)], times);
      expect([await canComplete(), await canComplete(otherBrowser)]).toEqual([true, false]);
      expect(await complete({ browser: otherBrowser })).toBe(false);
      expect(await complete()).toBe(true);
      expect([await canComplete(), await complete()]).toEqual([false, false]);
      expect(await find(1)).toMatchObject({ state: 'completed', userId: 'ada', loginCompletedAt: new Date(start) });
      expect(await historyOf(database.db, idOf(1))).toMatchObject([{ from: 'created', to: 'completed' }]);
    });

    it('are completed by one of many concurrent requests', async () => {
      await recordIntents(database.db, [login(1)], times);
      const all = await Promise.all(Array.from({ length: 20 }, () => complete()));
      expect(all.filter(Boolean)).toHaveLength(1);
    });

    it('cannot be completed after their time, by the clock of the database', async () => {
      await recordIntents(database.db, [login(1)], times);
      await database.advance(119_999);
      expect(await canComplete()).toBe(true);
      await database.advance(1);
      expect([await canComplete(), await complete()]).toEqual([false, false]);
    });

    it('can be completed again after a rollback or an undo', async () => {
      await recordIntents(database.db, [login(1)], times);
      const fails = completeLoginOnce(database.db, attempt, async () => {
        throw new Error('the users are locked');
      });
      await expect(fails).rejects.toThrow('the users are locked');
      expect(await complete()).toBe(true);
      await reopenLogin(database.db, idOf(1));
      expect(await find(1)).toMatchObject({ state: 'created', loginCompletedAt: undefined });
      expect(await complete()).toBe(true);
    });

    it('are not completed, and the work is rolled back, if the login is completed without it meanwhile', async () => {
      await recordIntents(database.db, [login(1)], times);
      const completed = completeLoginOnce(database.db, attempt, async (tx) => {
        // The version before this one completes it in another process, without waiting for this transaction.
        await tx.query('update express_intents.intents set login_completed_at = now() where id = $1', [idOf(1)]);
      });
      expect(await completed).toBe(false);
      expect(await find(1)).toMatchObject({ state: 'created', loginCompletedAt: undefined });
    });

    it('can be a payment with login, and no other payment', async () => {
      await recordIntents(database.db, [payment(1, { login: true })], times);
      expect(await complete()).toBe(true);
      expect(await find(1)).toMatchObject({ state: 'created', loginCompletedAt: new Date(start) });
      await recordIntents(database.db, [payment(2)], times);
      expect(await complete({ id: idOf(2) })).toBe(false);
    });

    it('cannot be completed before the sequencer accepted them', async () => {
      await recorder().reserve({ intent: login(1), idempotency });
      expect([await canComplete(), await complete()]).toEqual([false, false]);
    });
  });

  it('of a browser and a resource are listed by state and amount: settled first, then those that may settle', async () => {
    for (const [number, amount] of ['1.00', '3.00', '2.00', '9.00', '8.00'].entries()) {
      await recordIntents(database.db, [payment(number, { amount })], times);
    }
    await recordIntents(database.db, [payment(5, { resource: 'article:coffee' })], times);
    await recordIntents(database.db, [{ ...payment(6), browser: otherBrowser }], times);
    for (const number of [0, 1, 2, 5, 6]) {
      await set(number, "state = 'submitted'");
      await set(number, "state = 'settled'");
    }
    await recordIntents(database.db, [payment(7, { amount: '7.00' })], times);
    await set(7, "state = 'submitted'");
    await set(7, "state = 'dead', dead_letter_hook = 'onPaid', due_at = null");
    await set(4, "state = 'expired'");
    const found = await findPaymentsFor(database.db, browser, 'article:tea');
    expect(found.map(({ amount, state }) => `${amount} ${state}`)).toEqual([
      ...['3.00 settled', '2.00 settled', '1.00 settled'],
      '7.00 dead',
      '9.00 created',
    ]);
  });

  it('that expired or are dead letters can be retried, and no others', async () => {
    for (const number of [0, 1, 2, 3]) await recordIntents(database.db, [payment(number)], times);
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
    expect(await find(0)).toMatchObject({ state: 'created', dueAt: new Date(Date.parse(start) + 40 * 86_400_000) });
    expect(await find(1)).toMatchObject({ state: 'submitted', deadLetterHook: undefined, attempts: 0 });
  });
});
