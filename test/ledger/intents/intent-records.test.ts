import { canCompleteLogin, completeLoginOnce } from '../../../src/ledger/intents/complete-login.js';
import { findIntent, historyOf } from '../../../src/ledger/intents/find-intents.js';
import { IntentRecorder } from '../../../src/ledger/intents/intent-recorder.js';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import type { NewIntent, RecordedTerms } from '../../../src/ledger/ledger.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { ledgerTables, move } from '../../support/databases/ledger-rows.js';

const start = '2026-01-01T12:00:00.000Z';
const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).fill(7);

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
    await database.db.query(`truncate ${ledgerTables}`);
    await database.setTime(start);
  });
  const recorder = () => new IntentRecorder(database.db, times);
  const find = (number: number) => findIntent(database.db, idOf(number));
  const set = (number: number, changes: string) =>
    database.db.query(`update express_intents.intents set ${changes} where id = $1`, [idOf(number)]);
  const setProgress = (number: number, changes: string, table = 'payments') =>
    database.db.query(`update express_intents.${table} set ${changes} where intent_id = $1`, [idOf(number)]);

  it.each([
    [0.1 + 0.2, '1'],
    [5e-324, '9223372036854775807'],
    [Number.MAX_VALUE, '9007199254740993'],
  ])('keep a fixed rate of %d and %s quarks, to the last digit', async (exchangeRate, quarks) => {
    await recordIntents(database.db, [payment(1, { exact: { exchangeRate, quarks } })], times);
    expect(await find(1)).toMatchObject({ exact: { exchangeRate, quarks } });
    await expect(set(1, 'exchange_rate = 2')).rejects.toThrow(/immutable/);
    await expect(set(1, 'quarks = 2')).rejects.toThrow(/immutable/);
  });

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
    await recordIntents(database.db, [payment(1, { amount: '70368744177663.99' })], times);
    expect(await find(1)).toMatchObject({ amount: '70368744177663.99' });
  });

  it('keep a login, which is not polled', async () => {
    await recordIntents(database.db, [login(1)], times);
    expect(await find(1)).toMatchObject({ kind: 'login', state: 'created', dueAt: undefined });
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
    await expect(set(1, `${column} = ${value}`)).rejects.toThrow(/immutable/);
    expect(await find(1)).toMatchObject(terms);
  });

  it.each([
    ['payments', 'intent_id', "'x'"],
    ['payments', 'created_at', 'now()'],
    ['payments', 'browser', "'\\x00'"],
    ['payments', 'resource', "'article:all'"],
    ['logins', 'intent_id', "'x'"],
    ['logins', 'created_at', 'now()'],
  ])('do not allow a change of the copy in %s of %s', async (table, column, value) => {
    await recordIntents(database.db, [payment(1, { login: true })], times);
    await database.advance(1_000);
    await expect(setProgress(1, `${column} = ${value}`, table)).rejects.toThrow(/immutable/);
  });

  it.each(['settled', 'dead', 'reversed', 'creating'])('do not allow a change from created to %s', async (state) => {
    await recordIntents(database.db, [payment(1)], times);
    await expect(setProgress(1, `state = '${state}'`)).rejects.toThrow(/cannot change from created to/);
    expect(await historyOf(database.db, idOf(1))).toEqual([]);
  });

  it('of logins cannot be submitted, and payments cannot be completed', async () => {
    await recordIntents(database.db, [login(1), payment(2)], times);
    await expect(setProgress(1, "state = 'submitted'", 'logins')).rejects.toThrow();
    await expect(setProgress(2, "state = 'completed'")).rejects.toThrow();
  });

  it('that can still be paid have a next poll, whoever writes', async () => {
    await recordIntents(database.db, [payment(1)], times);
    await expect(setProgress(1, 'due_at = null')).rejects.toThrow(/next_poll/);
    await expect(setProgress(1, `state = 'expired', due_at = null, due_set_at = now()`)).rejects.toThrow(/next_poll/);
    await move(database.db, idOf(1), ['expire'], { watch_ms: 60_000 });
    await expect(setProgress(1, 'due_at = null, due_set_at = now()')).rejects.toThrow(/next_poll/);
    // A backend whose clock is ahead has found that the watch has ended.
    await move(database.db, idOf(1), ['endWatch']);
    expect(await find(1)).toMatchObject({ state: 'expired', dueAt: new Date(Date.parse(start) + 60_000) });
    await database.advance(60_000);
    await move(database.db, idOf(1), ['endWatch']);
    expect(await find(1)).toMatchObject({ state: 'expired', dueAt: undefined });
  });

  it('have a history of state changes, with times', async () => {
    await recordIntents(database.db, [payment(1)], times);
    await move(database.db, idOf(1), ['submit']);
    await move(database.db, idOf(1), ['fail', 'settle'], { attempts: 2, error: 'Ach' });
    const changes = await historyOf(database.db, idOf(1));
    expect(changes).toEqual([
      { at: expect.any(Date), from: 'created', to: 'submitted', attempts: 0 },
      { at: expect.any(Date), from: 'submitted', to: 'settled', attempts: 2 },
    ]);
  });

  describe('under an idempotency key', () => {
    it('are polled from the first confirmation on, however often they are confirmed', async () => {
      await recorder().reserve({ intent: payment(1), idempotency });
      expect(await find(1)).toMatchObject({ state: 'creating', dueAt: undefined });
      await recorder().confirm(idOf(1));
      await database.advance(10_000);
      await recorder().confirm(idOf(1));
      expect(await find(1)).toMatchObject({ state: 'created', dueAt: new Date(Date.parse(start) + 2_000) });
    });
  });

  describe('of a login', () => {
    const attempt = { id: idOf(1), browser, ttlMs: 120_000, userId: 'ada', key: 'key' };
    const complete = (changes = {}) =>
      completeLoginOnce(database.db, { ...attempt, ...changes }, async () => undefined);
    const canComplete = (by = browser) => canCompleteLogin(database.db, idOf(1), by, attempt.ttlMs);

    it('are not completed, and the work is rolled back, if the login is completed without it meanwhile', async () => {
      await recordIntents(database.db, [login(1)], times);
      const completed = completeLoginOnce(database.db, attempt, async (tx) => {
        // The version before this one completes it in another process, without waiting for this transaction.
        await tx.query(`update express_intents.logins set state = 'completed', completed_at = now()`);
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
});
