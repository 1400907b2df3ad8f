import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { IntentError } from '../../../../src/errors.js';
import {
  type Database,
  type DatabaseTransaction,
  TransactionNotStarted,
} from '../../../../src/ledger/database/database.js';
import { openEmbedded } from '../../../../src/ledger/database/embedded/embedded.js';
import type { PaymentHookContext } from '../../../../src/ledger/payment.js';
import { openTestDatabase } from '../../../support/databases/databases.js';
import { copyEmptyData } from '../../../support/databases/embedded-template.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';
import { SettlementFixture } from '../../settlement/settlement-fixture.js';

// The embedded ledger has one connection, which a hanging hook must not hold.

const opened: Database[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

/** A clock that the test moves. */
class TestClock {
  nowMs = 0;
  /** The pending delays, each with the function that ends it. */
  readonly waiting: { readonly ms: number; readonly end: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }

  wait(ms: number): Promise<void> {
    return new Promise((end) => this.waiting.push({ ms, end }));
  }
}

async function open(options: { hookMs?: number; clock?: TestClock } = {}): Promise<Database> {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  await copyEmptyData(path.join(folder, 'data'));
  const db = await openEmbedded({ folder, closeMs: 100, ...options });
  opened.push(db);
  await db.query('create table public.t (name text)');
  return db;
}

const never = (): Promise<never> => new Promise(() => undefined);
const insert = (tx: Pick<DatabaseTransaction, 'query'>, name: string) =>
  tx.query('insert into public.t values ($1)', [name]);
/** Calls a hook for the first time. It holds the database for three seconds. */
const runFirstHook = (db: Database, clock: TestClock): Promise<void> =>
  db.transaction(
    async (tx) => {
      await insert(tx, 'first');
      clock.nowMs += 3_000;
    },
    { isHook: true },
  );
const namesIn = async (db: Database) => (await db.query('select name from public.t order by name')).rows;

describe('the transaction of a hook on the embedded ledger', () => {
  test('does not lock the database before the hook uses tx', async () => {
    const db = await open();
    let resume = (): void => undefined;
    const work = db.transaction(
      async (tx) => {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
        await insert(tx, 'hook');
      },
      { isHook: true },
    );
    // The database of the site as well, from within the hook or not.
    await insert(db, 'visitor');
    resume();
    await work;
    expect(await namesIn(db)).toEqual([{ name: 'hook' }, { name: 'visitor' }]);
  });

  test('is rolled back when the hook keeps it open for too long; waiting callers are answered', async () => {
    const db = await open({ hookMs: 50 });
    let late: (() => Promise<unknown>) | undefined;
    const work = db.transaction(
      async (tx) => {
        late = () => insert(tx, 'late');
        await insert(tx, 'hook');
        await never();
      },
      { isHook: true },
    );
    const error = await work.catch((failure) => failure);
    expect(error).toBeInstanceOf(IntentError);
    expect(error).toMatchObject({
      code: 'internal_error',
      message:
        'The transaction of a hook was open for over 50 ms. In onPaid and onReversed, do slow work before the first query of tx; ' +
        'in onLogin, outside of the hook. Or use Postgres.',
    });
    await insert(db, 'visitor');
    await expect(late?.()).rejects.toThrow('has ended');
    expect(await namesIn(db)).toEqual([{ name: 'visitor' }]);
  });

  test('begins a retry only after the database was free for four times as long as the hook held it', async () => {
    const clock = new TestClock();
    const db = await open({ clock });
    await runFirstHook(db, clock);
    const begun: string[] = [];
    const retry = (name: string) =>
      db.transaction(
        async (tx) => {
          await insert(tx, name);
          begun.push(name);
          clock.nowMs += 1_000;
        },
        { isHook: true, isRetry: true },
      );
    const retries = [retry('second'), retry('third')];
    // A first call does not wait for a pause.
    await db.transaction((tx) => insert(tx, 'fresh'), { isHook: true });
    expect(begun).toEqual([]);
    expect(clock.waiting.map(({ ms }) => ms)).toEqual([12_000]);
    clock.nowMs += 12_000;
    clock.waiting[0]?.end();
    await retries[0];
    while (clock.waiting.length < 2) await insert(db, 'visitor');
    expect(begun).toEqual(['second']);
    expect(clock.waiting.map(({ ms }) => ms)).toEqual([12_000, 4_000]);
    clock.waiting[1]?.end();
    await Promise.all(retries);
    expect(begun).toEqual(['second', 'third']);
  });

  test('that could not begin before its callback ended is reported as such, and does not begin later', async () => {
    const clock = new TestClock();
    const db = await open({ clock });
    await runFirstHook(db, clock);
    const work = db.transaction(
      async (tx) => {
        void insert(tx, 'second');
        throw new Error('The time of the hook is over.');
      },
      { isHook: true, isRetry: true },
    );
    await expect(work).rejects.toBeInstanceOf(TransactionNotStarted);
    await Promise.resolve();
    for (const { end } of clock.waiting) end();
    await insert(db, 'visitor');
    expect(await namesIn(db)).toEqual([{ name: 'first' }, { name: 'visitor' }]);
  });
});

describe('settlement on the embedded ledger', () => {
  test('aborts the signal of a hook whose transaction was open for too long', async () => {
    const database = await openTestDatabase('embedded', { fakeTime: true });
    await database.db.close();
    Object.assign(database, { db: await openEmbedded({ folder: database.url, hookMs: 50 }) });
    const signals: AbortSignal[] = [];
    const onPaid = async (_payment: unknown, { tx, signal }: PaymentHookContext) => {
      signals.push(signal);
      await tx.query('select 1');
      await never();
    };
    const ledger = new SettlementFixture(database, { hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    await ledger.after(60_000);
    const lastError = expect.stringContaining('was open for over 50 ms');
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1, lastError });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(signals[0]?.reason.message).toContain('was open for over 50 ms');
  });

  test('makes a payment a dead letter at once when its hook ended the transaction', async () => {
    const database = await openTestDatabase('embedded', { fakeTime: true });
    const attempts: number[] = [];
    const onPaid = async (_payment: unknown, { tx, attempt }: PaymentHookContext) => {
      attempts.push(attempt);
      // To the check before the commit this is the same as a COMMIT that came past the guard.
      await tx.query('reset all');
    };
    const ledger = new SettlementFixture(database, { hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    for (let times = 0; times < 3; times += 1) await ledger.after(60_000);
    const lastError = expect.stringContaining('ended its own transaction');
    expect(await ledger.find(id)).toMatchObject({ state: 'dead', deadLetterHook: 'onPaid', lastError });
    expect(attempts).toEqual([1]);
  });

  test('counts an attempt for a hook that fails before its first statement begins the transaction', async () => {
    const database = await openTestDatabase('embedded', { fakeTime: true });
    const attempts: number[] = [];
    const onPaid = async (_payment: unknown, { tx, attempt }: PaymentHookContext) => {
      attempts.push(attempt);
      await Promise.all([tx.query('select 1'), Promise.reject(new Error('The mail server refused.'))]);
    };
    const ledger = new SettlementFixture(database, { hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    for (let times = 0; times < 4; times += 1) await ledger.after(60_000);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await ledger.find(id)).toMatchObject({ state: 'dead', lastError: 'Error: The mail server refused.' });
  });

  test('counts no attempt for a hook that was called and could not begin its transaction', async () => {
    const database = await openTestDatabase('embedded', { fakeTime: true });
    const real = database.db;
    let isBusy = true;
    const busy = { client: undefined, query: () => Promise.reject(new Error('Another transaction has the database.')) };
    const db: Database = {
      isShared: false,
      query: (sql, values) => real.query(sql, values),
      transaction: (work, options) =>
        isBusy
          ? work(busy).catch((error) => Promise.reject(new TransactionNotStarted(error)))
          : real.transaction(work, options),
      close: () => real.close(),
    };
    const attempts: number[] = [];
    const onPaid = async (_payment: unknown, { tx, attempt }: PaymentHookContext) => {
      attempts.push(attempt);
      await tx.query('select 1');
    };
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    for (let times = 0; times < 5; times += 1) await ledger.after(5_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 0 });
    isBusy = false;
    await ledger.after(5_000);
    expect((await ledger.find(id)).state).toBe('settled');
    expect(new Set(attempts)).toEqual(new Set([1]));
  });
});
