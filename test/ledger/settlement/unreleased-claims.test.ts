import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
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
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  query: Database['query'] = async (sql, values) => {
    if (this.isDown) throw outage();
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

describe.each(kinds)('a claim that could not be released, on %s', (kind: DatabaseKind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
    await database.setTime('2026-01-01T00:00:00Z');
  });

  beforeEach(async () => {
    await database.db.query('delete from express_intents.intents');
  });

  const isReleased = async (id: string): Promise<boolean> => {
    const sql = 'select from express_intents.intents where id = $1 and leased_until is null';
    return (await database.db.query(sql, [id])).rowCount === 1;
  };
  /** Reports the end of the outage, and waits until the claim is released. */
  const resume = async ({ settlement }: SettlementFixture, id: string): Promise<void> => {
    settlement.resume();
    await eventually('the claim is released', () => isReleased(id));
  };

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
    expect([calls, await isReleased(id)]).toEqual([1, false]);
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
    await ledger.settlement.round();
    await ledger.settlement.idle();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
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
