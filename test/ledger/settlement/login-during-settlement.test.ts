import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { completeLoginOnce } from '../../../src/ledger/intents/complete-login.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

// A payment with `login: true` whose browser completes the login while the ledger settles it: the usual case.

const insertUser = 'insert into public.users (id) values ($1) on conflict do nothing';
const login = { browser: new Uint8Array(32).fill(7), ttlMs: 120_000, userId: 'ada', key: 'key' };

/** A promise that the test resolves. */
function held(): { readonly promise: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end: () => end() };
}

describe('a login that is completed while its payment settles', () => {
  const database = useDatabase('postgres');
  beforeAll(async () => {
    await database.db.query('create table public.users (id text primary key)');
  });
  beforeEach(async () => {
    await database.db.query('truncate public.users');
  });

  /** Whether a statement that starts with `text` waits for a lock of another transaction. */
  const isLocked = async (text: string): Promise<boolean> => {
    const sql = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like $1`;
    return (await database.db.query(sql, [`${text}%`])).rowCount === 1;
  };

  const paidLogin = async (ledger: SettlementFixture): Promise<string> => {
    const id = await ledger.create({ login: true });
    ledger.pay(id);
    await database.advance(5_000);
    return id;
  };

  it('waits for a row that onPaid has written, and both commit without a deadlock', async () => {
    const [called, gate] = [held(), held()];
    const attempts: number[] = [];
    let logins = 0;
    const ledger = new SettlementFixture(database, {
      hooks: {
        onPaid: async (_payment, { tx, attempt }) => {
          attempts.push(attempt);
          await tx.query(insertUser, ['ada']);
          called.end();
          await gate.promise;
        },
      },
    });
    const id = await paidLogin(ledger);
    await ledger.settlement.round();
    await called.promise;
    const completed = completeLoginOnce(database.db, { id, ...login }, async (tx) => {
      logins += 1;
      await tx.query(insertUser, ['ada']);
    }).catch((error) => error);
    await eventually('the login waits', () => isLocked('insert into public.users'));
    gate.end();
    expect(await completed).toBe(true);
    await ledger.settlement.idle();
    expect([attempts, logins]).toEqual([[1], 1]);
    expect(await ledger.find(id)).toMatchObject({
      state: 'settled',
      userId: 'ada',
      loginCompletedAt: expect.any(Date),
    });
  });

  it('does not delay the payment, however long onLogin runs', async () => {
    const [called, gate] = [held(), held()];
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const ledger = new SettlementFixture(database, { hooks: { onPaid } });
    const id = await paidLogin(ledger);
    const completed = completeLoginOnce(database.db, { id, ...login }, () => {
      called.end();
      return gate.promise;
    });
    try {
      await called.promise;
      await ledger.work();
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', loginCompletedAt: undefined });
    } finally {
      gate.end();
    }
    expect(await completed).toBe(true);
    expect(attempts).toEqual([1]);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', loginCompletedAt: expect.any(Date) });
  });

  it.each([
    ['returns', false, ['first']],
    ['throws', true, ['first', 'second']],
  ])('calls onLogin again in another process only after the first onLogin %s', async (_how, fails, expected) => {
    const [called, gate] = [held(), held()];
    const calls: string[] = [];
    const ledger = new SettlementFixture(database);
    const id = await ledger.create({ login: true });
    const other = await openDatabase({ database: database.settings });
    try {
      const first = completeLoginOnce(database.db, { id, ...login }, async () => {
        calls.push('first');
        called.end();
        await gate.promise;
        if (fails) throw new Error('the users are locked');
      }).catch((error) => error.message);
      await called.promise;
      const second = completeLoginOnce(other, { id, ...login }, async () => void calls.push('second'));
      await eventually('the second waits, or runs', async () => calls.length > 1 || (await isLocked('')));
      expect(calls).toEqual(['first']);
      gate.end();
      expect([await first, await second]).toEqual(fails ? ['the users are locked', true] : [true, false]);
    } finally {
      gate.end();
      await other.close();
    }
    expect(calls).toEqual(expected);
  });
});
