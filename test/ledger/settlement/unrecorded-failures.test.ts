import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { eventually } from '../../support/eventually.js';
import { statementName } from '../proof/statement-name.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

// A hook fails, and then the write that records the failure fails, too. All other statements succeed.

const noConnection = () => new IntentError('ledger_unavailable', 'All ten database connections are in use.');
const outage = () => databaseOutage('The database failed', new Error('Connection terminated'));

/** The write of `hookFailed`, and of a refused payment. */
const recordsFailure = (sql: string): boolean => statementName(sql) === 'fail';

describe('a hook whose failure cannot be recorded', () => {
  const database = useDatabase('postgres');

  /** A database that rejects the records of failures, and counts the rounds. */
  class RejectingDatabase implements Database {
    readonly isShared = true;
    isRejecting = true;
    rounds = 0;
    readonly #error: () => Error;

    constructor(error: () => Error) {
      this.#error = error;
    }

    query: Database['query'] = async (sql, values) => {
      if (sql.includes('first_due')) this.rounds += 1;
      if (this.isRejecting && recordsFailure(sql)) throw this.#error();
      return database.db.query(sql, values);
    };

    transaction: Database['transaction'] = (work) => database.db.transaction(work);
    close = async (): Promise<void> => undefined;
  }

  let ledger: SettlementFixture;
  afterEach(() => ledger.settlement.close());

  it.each([
    ['onPaid', 'the database has an outage', outage],
    ['verifyPayment', 'no connection is free', noConnection],
  ] as const)(
    '%s, because %s, is called once more in quarantine, and not again before its failure is recorded',
    async (hook, _why, error) => {
      const db = new RejectingDatabase(error);
      let calls = 0;
      const fail = (): never => {
        calls += 1;
        throw new Error('the printer is on fire');
      };
      const hooks: PaymentHooks = { [hook]: fail };
      ledger = new SettlementFixture(database, { db, hooks, timing: { roundMs: 10 } });
      const rounds = async (): Promise<void> => {
        const end = db.rounds + 5;
        await eventually('five rounds', () => db.rounds >= end);
        await ledger.settlement.idle();
      };
      const id = await ledger.create();
      ledger.pay(id);
      await database.advance(5_000);
      ledger.settlement.start();
      await eventually('the hook is called', () => calls > 0);
      await rounds();
      expect(calls).toBeLessThanOrEqual(2);
      for (let lease = 0; lease < 4; lease += 1) {
        await database.advance(31_000);
        await rounds();
      }
      expect(calls).toBe(2);
      const { rows } = await database.db.query('select lane, attempts::int as attempts from express_intents.payments');
      expect(rows).toEqual([{ lane: 'quarantine', attempts: 0 }]);
      expect(ledger.log.text).toContain(`work on payment ${id} was interrupted after the start of ${hook}`);
      await ledger.settlement.close();
      db.isRejecting = false;
      await database.advance(31_000);
      const other = new SettlementFixture(database, { db, hooks, sequencer: ledger.sequencer });
      await other.settlement.round();
      await other.settlement.idle();
      expect(await other.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
      expect(calls).toBe(2);
    },
  );
});
