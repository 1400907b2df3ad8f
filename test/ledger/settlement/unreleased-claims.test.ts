import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { type DatabaseKind, kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { FakeSequencer, SettlementFixture } from './settlement-fixture.js';

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
  const sql = 'select from express_intents.intents where id = $1 and leased_until is null';
  return (await database.db.query(sql, [id])).rowCount === 1;
}

/** Reports the end of the outage, and waits until the claim is released. */
async function resume(ledger: SettlementFixture, id: string): Promise<void> {
  ledger.settlement.resume();
  await eventually('the claim is released', () => isReleased(ledger, id));
}

describe.each(kinds)('a claim that could not be released, on %s', (kind: DatabaseKind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
    await database.setTime('2026-01-01T00:00:00Z');
  });

  beforeEach(async () => {
    await database.db.query('delete from express_intents.intents');
  });

  it('is released once the database accepts writes, even if the first attempt fails', async () => {
    const db = new FailingDatabase(database.db);
    let calls = 0;
    const onPaid = () => {
      calls += 1;
      db.isDown = calls === 1;
    };
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid } });
    const id = await ledger.create();
    ledger.pay(id);
    await database.advance(2_000);
    await ledger.settlement.round();
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

  it('is polled when it is released, although it is due hours later', async () => {
    const db = new FailingDatabase(database.db);
    let fails = true;
    const sequencer = new (class extends FakeSequencer {
      override answer(id: string) {
        db.isDown = fails;
        return super.answer(id);
      }
    })();
    const ledger = new SettlementFixture(database, { db, sequencer });
    const id = await ledger.create();
    const sql = "update express_intents.intents set due_at = now() + interval '6 hours' where id = $1";
    await database.db.query(sql, [id]);
    ledger.pay(id);
    void ledger.settlement.recheck(id);
    // The round also claims what is due, and that may already fail.
    await ledger.settlement.round().catch(() => undefined);
    await ledger.settlement.idle();
    expect(await ledger.find(id)).toMatchObject({ state: 'created' });
    fails = false;
    db.isDown = false;
    await resume(ledger, id);
    // The database may report the release to this test first, and only then to the ledger.
    await eventually('the payment settles', async () => {
      await ledger.work();
      return (await ledger.find(id)).state === 'settled';
    });
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

  it('is released before a round claims, even if its release runs already', async () => {
    const failing = new FailingDatabase(database.db);
    const statements: string[] = [];
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const db: Database = {
      isShared: true,
      query: async (sql, values) => {
        const isRelease = sql.includes('from unnest');
        if (isRelease) await opened;
        if (isRelease || sql.includes('first_due')) statements.push(isRelease ? 'release' : 'claim');
        return failing.query(sql, values);
      },
      transaction: (work) => failing.transaction(work),
      close: () => failing.close(),
    };
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid }, timing: { roundMs: 10 } });
    const id = await leaveClaim(ledger, failing);
    statements.length = 0;
    // The lease ends.
    await database.advance(31_000);
    ledger.settlement.resume();
    ledger.settlement.start();
    try {
      // Enough time for a round that does not wait for the release.
      for (let turn = 0; turn < 50; turn += 1) await database.db.query('select 1');
      expect(statements).toEqual([]);
      open();
      await eventually('the payment settles', async () => (await ledger.find(id)).state === 'settled');
    } finally {
      open();
      await ledger.settlement.close();
    }
    expect(statements.slice(0, 2)).toEqual(['release', 'claim']);
    expect(attempts).toEqual([1]);
    expect(ledger.log.text).not.toContain('was interrupted');
  });

  it('is not counted as an attempt when no hook was called, however often that happens', async () => {
    const db = new FailingDatabase(database.db);
    const attempts: number[] = [];
    const onPaid = (_payment: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const ledger = new SettlementFixture(database, { db, hooks: { onPaid }, settings: { hookAttempts: 3 } });
    const id = await ledger.create();
    ledger.pay(id);
    await database.advance(2_000);
    db.failsNext = true;
    for (let time = 0; time < 5; time += 1) {
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
  });
});

describe('a claim whose row another transaction has locked', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query('delete from express_intents.intents');
    await database.setTime('2026-01-01T00:00:00Z');
  });

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
        await tx.query('select from express_intents.intents where id = $1 for update', [id]);
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

  it('is given up when another process claims the payment', async () => {
    const { ledger, id, statements } = await ledgerWithClaim();
    await database.db.query('update express_intents.intents set lease_token = lease_token + 1 where id = $1', [id]);
    ledger.settlement.start();
    const claims = () => statements.filter((statement) => statement === 'claim').length;
    await eventually('five rounds', () => claims() >= 5).finally(() => ledger.settlement.close());
    expect(statements.filter((statement) => statement !== 'claim')).toEqual(['release']);
  });
});

describe('a payment that waits for a slot after verifyPayment', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
    await database.setTime('2026-01-01T00:00:00Z');
  });
  beforeEach(async () => {
    await database.db.query('delete from express_intents.intents');
  });

  /** The only slot is taken, until `freeSlot` is called. */
  const ledgerWithoutSlot = async (onVerify: () => void) => {
    const db = new FailingDatabase(database.db);
    let freeSlot = (): void => undefined;
    const slot = new Promise<void>((resolve) => {
      freeSlot = resolve;
    });
    const calls: string[] = [];
    const onPaid = ({ id }: { id: string }, { attempt }: { attempt: number }) => {
      calls.push(`${id} ${attempt}`);
      return id === first ? slot : undefined;
    };
    const verifyPayment = ({ id }: { id: string }) => {
      if (id !== first) onVerify();
      return true;
    };
    const hooks = { onPaid, verifyPayment };
    const ledger = new SettlementFixture(database, { db, hooks, timing: { hookConcurrency: 1 } });
    const first = await ledger.create();
    const begin = async (id: string) => {
      ledger.pay(id);
      await database.advance(2_000);
      await ledger.settlement.round();
    };
    await begin(first);
    await eventually('the slot is taken', () => calls.length === 1);
    const id = await ledger.create();
    return { db, ledger, id, freeSlot, begin: () => begin(id), attempts: () => calls.slice(1) };
  };

  /** Ends the outage. */
  const expectUninterrupted = async (waiting: Awaited<ReturnType<typeof ledgerWithoutSlot>>) => {
    const { db, ledger, id, freeSlot, attempts } = waiting;
    db.failsNext = false;
    db.isDown = false;
    await resume(ledger, id);
    freeSlot();
    await ledger.settlement.idle();
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect(attempts()).toEqual([`${id} 1`]);
    expect(ledger.log.text).not.toContain('was interrupted');
  };

  it('is not interrupted when the database fails before the wait', async () => {
    const waiting = await ledgerWithoutSlot(() => {
      waiting.db.isDown = !hasFailed;
      hasFailed = true;
    });
    let hasFailed = false;
    await waiting.begin();
    await eventually('the database fails', () => waiting.db.failures === 1);
    await expectUninterrupted(waiting);
  });

  it('is not interrupted when the database fails before onPaid is called', async () => {
    const waiting = await ledgerWithoutSlot(() => undefined);
    const { ledger, db, freeSlot } = waiting;
    await waiting.begin();
    await eventually('it waits for the slot', () => ledger.settlement.firstCallWaitMs > 0);
    db.failsNext = true;
    freeSlot();
    await ledger.settlement.idle();
    expect([db.isDown, waiting.attempts()]).toEqual([true, []]);
    await expectUninterrupted(waiting);
  });

  it('in quarantine is not interrupted when the database fails before onPaid is called', async () => {
    const db = new FailingDatabase(database.db);
    const attempts: number[] = [];
    const hooks: PaymentHooks = {
      verifyPayment: () => true,
      onPaid: (_payment, { attempt }) => void attempts.push(attempt),
    };
    const ledger = new SettlementFixture(database, { db, hooks, settings: { hookAttempts: 1 } });
    const id = await ledger.create();
    await database.db.query(`update express_intents.intents set lane = 'quarantine' where id = $1`, [id]);
    ledger.pay(id);
    await database.advance(2_000);
    db.failsNext = true;
    await ledger.settlement.round();
    await ledger.settlement.idle();
    expect([db.isDown, attempts]).toEqual([true, []]);
    db.failsNext = false;
    db.isDown = false;
    await resume(ledger, id);
    await ledger.work();
    expect([(await ledger.find(id)).state, attempts]).toEqual(['settled', [1]]);
    expect(ledger.log.text).not.toContain('was interrupted');
  });
});

it.each([
  [3, 0],
  [4, 1],
])('%d searches in succession that conflict with other transactions log %d errors', async (conflicts, lines) => {
  const database = await openTestDatabase('postgres');
  const { db } = database;
  let searches = 0;
  const conflicting: Database = {
    isShared: true,
    query: async (sql, values) => {
      if (sql.includes('first_due') && ++searches <= conflicts)
        throw Object.assign(new Error('could not serialize access'), { code: '40001' });
      return db.query(sql, values);
    },
    transaction: (work, options) => db.transaction(work, options),
    close: async () => undefined,
  };
  const ledger = new SettlementFixture(database, { db: conflicting, timing: { roundMs: 10 } });
  ledger.settlement.start();
  await eventually('the searches succeed', () => searches > conflicts + 1).finally(() => ledger.settlement.close());
  expect(ledger.log.lines.filter((line) => line.includes('its search for due payments'))).toHaveLength(lines);
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
  const id = await ledger.create();
  ledger.pay(id);
  await database.advance(2_000);
  await ledger.settlement.round();
  await ledger.settlement.idle();
  expect([conflicts, await isReleased(ledger, id)]).toEqual([1, false]);
  await resume(ledger, id);
  await ledger.work();
  expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
});
