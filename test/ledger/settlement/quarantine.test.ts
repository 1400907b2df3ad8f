import type { Database } from '../../../src/ledger/database/database.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import { kinds } from '../../support/databases/databases.js';
import { FakeSequencer, minuteMs, SettlementFixture, useDatabase } from './settlement-fixture.js';

// A hook that crashes the process, next to payments that do not. A process is a settlement whose database rejects every
// statement from the moment it has ended.

/** A database that rejects every call once its process has ended. */
class ProcessDatabase implements Database {
  readonly isShared: boolean;
  hasEnded = false;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    this.isShared = db.isShared;
  }

  #require(): void {
    if (this.hasEnded) throw new Error('The process has ended.');
  }

  query: Database['query'] = async (sql, values) => {
    this.#require();
    const result = await this.#db.query<never>(sql, values);
    this.#require();
    return result;
  };

  transaction: Database['transaction'] = async (work) => {
    this.#require();
    return this.#db.transaction(async (tx) => {
      const value = await work(tx);
      this.#require();
      return value;
    });
  };

  async close(): Promise<void> {}
}

describe.each(kinds)('payments whose hook crashes the process, on %s', (kind) => {
  const database = useDatabase(kind);

  it('are not charged an attempt when a killed process interrupted several: each settles, one at a time', async () => {
    const sequencer = new FakeSequencer();
    const creator = new SettlementFixture(database, { sequencer });
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await creator.create());
    for (const id of ids) creator.pay(id);
    await database.advance(5_000);
    // The rows that a process leaves which was killed while the hooks of all four ran.
    await database.db.query(
      `update express_intents.payments set state = 'submitted', submitted_at = now(), running_hook = 'onPaid',
         leased_until = now() - interval '1 second', due_at = now() - interval '30 seconds'`,
    );
    let [running, most] = [0, 0];
    const onPaid = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await tx.query('insert into effects values ($1)', [id]);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    const ledger = new SettlementFixture(database, { hooks: { onPaid }, sequencer });
    await ledger.after(1_000);
    for (const id of ids) {
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
      expect(ledger.log.text).toContain(`work on payment ${id} was interrupted after the start of onPaid`);
    }
    expect(most).toBe(1);
    const { rows } = await database.db.query('select id from effects');
    expect(rows).toHaveLength(4);
  });

  it('become dead letters when verifyPayment crashes the process, and no other is charged', async () => {
    const sequencer = new FakeSequencer();
    const creator = new SettlementFixture(database, { sequencer });
    const [culprit, other] = [await creator.create(), await creator.create()];
    for (const id of [culprit, other]) creator.pay(id);
    await database.advance(5_000);
    let log = '';
    const life = async (): Promise<void> => {
      const process = new ProcessDatabase(database.db);
      const verifyPayment = async ({ id }: Payment): Promise<boolean> => {
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (id === culprit) process.hasEnded = true;
        return true;
      };
      const hooks = { verifyPayment };
      const ledger = new SettlementFixture(database, { db: process, hooks, sequencer, settings: { hookAttempts: 2 } });
      await ledger.work().catch(() => undefined);
      await ledger.settlement.idle();
      log += ledger.log.text;
    };
    for (let lives = 0; lives < 12; lives += 1) {
      await life();
      await database.advance(minuteMs);
    }
    expect(await creator.find(other)).toMatchObject({ state: 'settled', attempts: 0 });
    expect(await creator.find(culprit)).toMatchObject({
      state: 'dead',
      attempts: 2,
      deadLetterHook: 'verifyPayment',
      lastError: 'Error: verifyPayment was interrupted: the process ended or lost its database connection.',
    });
    expect(log).toContain(`verifyPayment failed for payment ${culprit} (attempt 1 of 2)`);
    expect(log).toContain(`payment ${culprit} is a dead letter: verifyPayment failed (attempt 2 of 2)`);
    expect(log).not.toContain('onPaid');
  });
});
