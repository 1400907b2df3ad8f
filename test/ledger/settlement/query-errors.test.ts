import type { PaymentHookContext } from '../../../src/ledger/payment.js';
import type { RouterEventPayload } from '../../../src/telemetry/router-event.js';
import { kinds } from '../../support/databases/databases.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

/** As the error of an ORM for a failed query: message, stack and properties contain the values. */
class QueryError extends Error {
  readonly params: readonly unknown[];

  constructor(sql: string, params: readonly unknown[], cause: unknown) {
    super(`Failed query: ${sql}\nparams: ${params.join(',')}`, { cause });
    this.params = params;
  }
}

interface DriverClient {
  query(sql: string, values: readonly unknown[]): Promise<unknown>;
}

const address = 'ada.lovelace@example.com';

describe.each(kinds)('a failed query of a hook, on %s', (kind) => {
  const database = useDatabase(kind);
  beforeAll(async () => {
    await database.db.query('create table mails (address text unique)');
    await database.db.query('insert into mails values ($1)', [address]);
  });

  const text = 'error: duplicate key value violates unique constraint "mails_address_key"';
  const names = '(sqlState 23505, constraint mails_address_key, table mails)';

  const insert = async ({ tx }: PaymentHookContext): Promise<void> => {
    const sql = 'insert into mails (address) values ($1)';
    const params = [address];
    try {
      await (tx.client as DriverClient).query(sql, params);
    } catch (error) {
      throw new QueryError(sql, params, error);
    }
  };

  /** Calls `onPaid` once. @returns what the ledger, the log and the events say about its failure */
  async function fail(onPaid: (context: PaymentHookContext) => Promise<void>, hookAttempts = 3) {
    const events: RouterEventPayload[] = [];
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid: (_payment, context) => onPaid(context) },
      settings: { hookAttempts },
      observer: { emit: (event) => void events.push(event) },
    });
    const id = await ledger.buy();
    const { lastError, state } = await ledger.find(id);
    return { lastError, state, log: ledger.log.text, events };
  }

  it('that an ORM wraps is recorded, logged and emitted as the error of the driver, without the values', async () => {
    const { lastError, log, events } = await fail(insert);
    expect(lastError).toBe(`${text} ${names}`);
    expect(log).toContain('onPaid failed');
    expect(log).toContain('"sqlState":"23505","constraint":"mails_address_key","table":"mails"');
    expect(log).toContain('query-errors.test');
    expect(events).toContainEqual(expect.objectContaining({ type: 'hook_failed', error: `${text} ${names}` }));
    expect(JSON.stringify([lastError, log, events])).not.toContain('ada');
  });

  /** The hook ignores the failure, which has aborted its transaction. */
  const ignoring = async (context: PaymentHookContext): Promise<void> => {
    await insert(context).catch(() => undefined);
  };
  const later = async ({ tx }: PaymentHookContext): Promise<void> => {
    const sql = 'select 1';
    await tx.query(sql).catch((cause) => {
      throw new QueryError(sql, [], cause);
    });
  };

  it.each([
    ['no other query', ignoring],
    ['another query', (context: PaymentHookContext) => ignoring(context).then(() => later(context))],
  ])('that the hook ignores is recorded, logged and emitted as the reason, with %s after it', async (_what, onPaid) => {
    const { lastError, log, events } = await fail(onPaid);
    const reason =
      'The transaction was rolled back, because a statement in it failed and its error was caught or not awaited: ' +
      `${text.slice('error: '.length)}. Await it without catching its error, or set a savepoint before it and roll back to it.`;
    expect(lastError).toBe(`IntentError: ${reason} ${names}`);
    expect(log).toContain('"sqlState":"23505","constraint":"mails_address_key","table":"mails"');
    const error = lastError?.slice(0, 200);
    expect(events).toContainEqual(expect.objectContaining({ type: 'hook_failed', error }));
    expect(JSON.stringify([lastError, log, events])).not.toMatch(/aborted|ada/);
  });

  it('does not follow from a query that the hook does not await: it is committed with the payment', async () => {
    const { state } = await fail(async ({ tx }) => void tx.query(`insert into effects values ('a note')`));
    const { rows } = await database.db.query('select id from effects');
    expect([state, rows]).toEqual(['settled', [{ id: 'a note' }]]);
  });
});
