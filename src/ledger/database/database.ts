import { IntentError } from '../../errors.js';

/** What a statement gives back. */
export interface QueryResult<Row> {
  /** The rows, as objects by column name. */
  readonly rows: readonly Row[];
  /** How many rows a statement has found, written or changed. */
  readonly rowCount: number;
}

/** Runs statements; parameters are `$1`, `$2`, ... */
export interface Queryable {
  /**
   * Runs one statement. Several in one text are an error.
   * @throws {IntentError} `ledger_unavailable` @throws what the database says against the statement, as the driver gives it
   */
  query<Row extends object = Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}

/** A transaction. Once it is over, `query` rejects. */
export interface DatabaseTransaction extends Queryable {
  /**
   * For a query builder: `query` as a `PoolClient` of pg or a `Transaction` of PGlite has it, for one statement in each text.
   * What would reach beyond the transaction, such as `release`, cursors, COPY streams and names of prepared statements, is left out.
   */
  readonly client: unknown;
}

/** What a transaction is for. */
export interface TransactionOptions {
  /**
   * It runs a hook of the site, which may hang. On PGlite it then begins with the first statement, and fails when it is open for
   * longer than a few seconds, since everything else waits meanwhile.
   */
  readonly isHook?: boolean;
  /** The hook has failed before. On PGlite it begins only after the hooks before it have left the database to others for a while. */
  readonly isRetry?: boolean;
}

/** The transaction of a hook was wanted and did not begin. Its `cause` is what the work threw. */
export class TransactionNotBegun extends IntentError {
  /** Whether the database refused to begin it. False where the work ended while the transaction still waited for its turn. */
  readonly isRefused: boolean;

  constructor(cause: unknown, isRefused = true) {
    super('ledger_unavailable', 'The transaction of a hook could not be begun.', { cause });
    this.isRefused = isRefused;
  }
}

/**
 * The seam between the ledger and a database: the same SQL runs on Postgres (any number of processes) and on PGlite (a
 * folder, one process).
 */
export interface Database extends Queryable {
  /** Whether other processes may be at work in the same database. */
  readonly isShared: boolean;
  /**
   * Commits what `work` has written when it resolves, and rolls it back when it rejects or when the commit fails.
   *
   * On PGlite everything else waits meanwhile: whoever asks the database itself from within `work` gets an error at once,
   * where waiting for an answer would be for ever.
   * `work` may not begin or end transactions itself; savepoints are its own. A statement that it does not wait for, and
   * one that failed without being taken back to a savepoint, roll the whole back. What it sets for the session (settings, a role,
   * session locks, temporary tables, cursors) ends with the transaction.
   * @throws {IntentError} `ledger_unavailable`; when the connection is lost during the commit, it may have been done
   * @throws {TransactionNotBegun} for a hook @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>, options?: TransactionOptions): Promise<Value>;
  /**
   * Hears what is told on a channel (`pg_notify`), by this process or another, until it is closed. What is told while there
   * is no connection is lost. Not there where one process alone can have the database.
   */
  listen?(channel: string, hear: (payload: string) => void): { close(): void };
  /** Lets what runs end, and closes the connections. Can be called again. */
  close(): Promise<void>;
}
