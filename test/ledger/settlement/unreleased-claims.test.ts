import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import { type DatabaseKind, kinds, openTestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

// Claims whose release failed with the database. No time passes in these tests, so no lease ends.

const outage = () => databaseOutage('The database cannot be reached', new Error('too many connections'));

/** Fails while `isDown` is set, including transactions that are open. */
class FailingDatabase implements Database {
  readonly isShared = true;
  isDown = false;
  /** Whether it fails from the next transaction on. */
  failsNext = false;
  /** How many statements have failed outside of a transaction. */
  failures = 0;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  query: Database['query'] = async (sql, values) => {
    if (this.isDown) {
      this.failures += 1;
      throw outage();
    }
    return this.#db.query(sql, values);
  };

  transaction: Database['transaction'] = async (work) => {
    this.isDown ||= this.failsNext;
    if (this.isDown) throw outage();
    return this.#db.transaction(async (tx) => {
      const value = await work(tx);
      if (this.isDown) throw outage();
      return value;
    });
  };

  close = (): Promise<void> => this.#db.close();
}

/** Pays a payment whose claim cannot be released, because the database fails. */
async function leaveClaim(ledger: SettlementFixture, failing: FailingDatabase): Promise<string> {
  const id = await ledger.create();
  ledger.pay(id);
  await ledger.database.advance(2_000);
  failing.failsNext = true;
  await ledger.settlement.round();
  await ledger.settlement.idle();
  failing.failsNext = false;
  failing.isDown = false;
  return id;
}

async function isReleased({ database }: SettlementFixture, id: string): Promise<boolean> {
  const sql = 'select from express_intents.payments where intent_id = $1 and leased_until is null';
  return (await database.db.query(sql, [id])).rowCount === 1;
}

/** Reports the end of the outage, and waits until the claim is released. */
async function resume(ledger: SettlementFixture, id: string): Promise<void> {
  ledger.settlement.resume();
  await eventually('the claim is released', () => isReleased(ledger, id));
}

describe.each(kinds)('a claim that could not be released, on %s', (kind: DatabaseKind) => {
  const database = useDatabase(kind);

  it('is released once the database accepts writes, even if the first attempt fails', async () => {
    const db = new FailingDatabase(database.db);
    let calls = 0;
    const onPaid = () => {
      calls += 1;
      db.isDown = calls === 1;
    };
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid } });
    const id = await ledger.begin();
    await ledger.settlement.idle();
    expect([calls, await isReleased(ledger, id)]).toEqual([1, false]);
    ledger.settlement.resume();
    await wait(20);
    db.isDown = false;
    await resume(ledger, id);
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect(calls).toBe(2);
  });

  it('whose hook was interrupted is called again in quarantine, and a second outage counts as an attempt', async () => {
    const db = new FailingDatabase(database.db);
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      db.isDown = true;
    };
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    await database.advance(2_000);
    for (let time = 0; time < 6; time += 1) {
      await ledger.settlement.round();
      await ledger.settlement.idle();
      db.isDown = false;
      await resume(ledger, id);
    }
    expect(attempts).toEqual([1, 1]);
    // The next call follows after a backoff.
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
    expect(ledger.log.text).toContain(`work on payment ${id} was interrupted after the start of onPaid`);
  });

  it.each([
    ['first', 5],
    // The only attempt of a payment in quarantine makes a dead letter.
    ['quarantine', 1],
  ])('is not counted as an attempt when no hook was called, in lane %s', async (lane, times) => {
    const db = new FailingDatabase(database.db);
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const settings = { hookAttempts: lane === 'first' ? 3 : 1 };
    const hooks = { onPaid, verifyPayment: () => true };
    const ledger = new SettlementFixture(database, { db, hooks, settings });
    const id = await ledger.create();
    await database.db.query('update express_intents.payments set lane = $1 where intent_id = $2', [lane, id]);
    ledger.pay(id);
    await database.advance(2_000);
    db.failsNext = true;
    for (let time = 0; time < times; time += 1) {
      await ledger.settlement.round();
      await ledger.settlement.idle();
      expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 0 });
      db.isDown = false;
      await resume(ledger, id);
      expect(await ledger.find(id)).toMatchObject({ attempts: 0 });
    }
    db.failsNext = false;
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect(attempts).toEqual([1]);
    expect(ledger.log.text).not.toContain('was interrupted');
  });
});

describe('a claim whose row another transaction has locked', () => {
  const database = useDatabase('postgres');

  /** A ledger with an unreleased claim. Records how each release ends, and each search for due payments. */
  const ledgerWithClaim = async () => {
    const failing = new FailingDatabase(database.db);
    const statements: string[] = [];
    const db: Database = {
      isShared: true,
      query: async (sql, values) => {
        if (sql.includes('first_due')) statements.push('claim');
        if (!sql.includes('from unnest')) return failing.query(sql, values);
        const end = (how: string) => () => void statements.push(how);
        const release = failing.query<never>(sql, values);
        await release.then(end('release'), end('failed release'));
        return release;
      },
      transaction: (work) => failing.transaction(work),
      close: () => failing.close(),
    };
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid }, timing: { roundMs: 10 } });
    const id = await leaveClaim(ledger, failing);
    statements.length = 0;
    return { ledger, id, statements, attempts };
  };

  it('delays no round, and is released when the other transaction ends', async () => {
    const { ledger, id, statements, attempts } = await ledgerWithClaim();
    const other = await ledger.create();
    ledger.pay(other);
    await database.advance(2_000);
    try {
      await database.db.transaction(async (tx) => {
        await tx.query('select from express_intents.payments where intent_id = $1 for update', [id]);
        ledger.settlement.start();
        await eventually('the other payment settles', async () => (await ledger.find(other)).state === 'settled');
        expect(statements.slice(0, 2)).toEqual(['release', 'claim']);
        expect(await ledger.find(id)).toMatchObject({ state: 'submitted' });
      });
      await eventually('the payment settles', async () => (await ledger.find(id)).state === 'settled');
    } finally {
      await ledger.settlement.close();
    }
    expect(statements).not.toContain('failed release');
    expect(attempts).toEqual([1, 1]);
    expect(ledger.log.text).not.toContain('was interrupted');
  });
});

it('a claim whose write conflicts with another transaction is released', async () => {
  const database = await openTestDatabase('postgres', { fakeTime: true });
  const { db } = database;
  let conflicts = 0;
  const conflicting: Database = {
    isShared: true,
    query: async (sql, values) => {
      if (sql.includes("set state = 'submitted'") && conflicts++ === 0)
        throw Object.assign(new Error('could not serialize access'), { code: '40001' });
      return db.query(sql, values);
    },
    transaction: (work, options) => db.transaction(work, options),
    close: async () => undefined,
  };
  const ledger = new SettlementFixture(database, { db: conflicting, hooks: { onPaid: () => undefined } });
  const id = await ledger.begin();
  await ledger.settlement.idle();
  expect([conflicts, await isReleased(ledger, id)]).toEqual([1, false]);
  await resume(ledger, id);
  await ledger.work();
  expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
});

it('a database without a free transaction is not counted as a failure of the hook, however often it happens', async () => {
  const database = await openTestDatabase('postgres', { fakeTime: true });
  const real = database.db;
  let isBusy = true;
  const db: Database = {
    isShared: true,
    query: (sql, values) => real.query(sql, values),
    transaction: (work) =>
      isBusy ? Promise.reject(new IntentError('ledger_unavailable', 'All are taken.')) : real.transaction(work),
    close: async () => undefined,
  };
  const attempts: number[] = [];
  const hooks = { onPaid: (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt) };
  const ledger = new SettlementFixture(database, { db, hooks });
  const id = await ledger.create();
  ledger.pay(id);
  for (let time = 0; time < 10; time += 1) await ledger.after(5_000);
  expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 0 });
  isBusy = false;
  await ledger.after(5_000);
  expect((await ledger.find(id)).state).toBe('settled');
  expect(attempts).toEqual([1]);
});
