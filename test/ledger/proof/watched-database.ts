import type {
  Database,
  DatabaseTransaction,
  Queryable,
  TransactionOptions,
} from '../../../src/ledger/database/database.js';
import { statementName } from './statement-name.js';

/** Called at each point of the ledger: `before settle`, `after settle`, `before the commit`. May end the process. */
export type Reach = (point: string) => void | Promise<void>;

/** A database that reports a point before and after each statement, at which a crash can be injected. */
export function watchedDatabase(db: Database, reach: Reach, nameOf = statementName): Database {
  const watched = (on: Queryable): Queryable['query'] =>
    async function query<Row extends object>(sql: string, values?: readonly unknown[]) {
      const name = nameOf(sql);
      await reach(`before ${name}`);
      const result = await on.query<Row>(sql, values);
      await reach(`after ${name}`);
      return result;
    };
  return {
    isShared: db.isShared,
    query: watched(db),
    transaction: async <Value>(
      work: (tx: DatabaseTransaction) => Promise<Value>,
      options?: TransactionOptions,
    ): Promise<Value> => {
      const value = await db.transaction(async (tx) => {
        await reach('after the begin');
        const done = await work({ client: tx.client, query: watched(tx) });
        await reach('before the commit');
        return done;
      }, options);
      await reach('after the commit');
      return value;
    },
    close: () => db.close(),
  };
}
