import type { AbortSignalLike } from '../../async/abort.js';
import { IntentError } from '../../errors.js';

/** The result of a statement. */
export interface QueryResult<Row> {
  /** The rows, as objects by column name. */
  readonly rows: readonly Row[];
  /** How many rows the statement found, wrote or changed. */
  readonly rowCount: number;
}

/** Runs statements. Parameters are `$1`, `$2`, ... */
export interface Queryable {
  /**
   * Runs one statement. Several statements in one text are an error.
   * @throws {IntentError} `ledger_unavailable`; `internal_error` for a statement that is not accepted here, or after its transaction ended
   * @throws the error of the driver
   */
  query<Row extends object = Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}

/** A transaction. After it ends, `query` rejects. */
export interface DatabaseTransaction extends Queryable {
  /**
   * For a query builder: has the `query` method of a `PoolClient` of pg, or of a `Transaction` of PGlite, the embedded
   * database. It accepts one statement per call, no cursors and no COPY streams, and ignores the name of a query. On Postgres
   * `release()` does nothing. In TypeScript: `tx.client as PoolClient`.
   */
  readonly client: unknown;
}

/** @param abandoned on PGlite: aborts when the transaction must end before its work does */
export type TransactionWork<Value> = (tx: DatabaseTransaction, abandoned?: AbortSignalLike) => Promise<Value>;

export interface TransactionOptions {
  /**
   * The transaction runs a hook of the site, which may hang. On PGlite all other calls wait for an open transaction, so
   * it begins with its first statement, and fails if it is open for more than a few seconds. On Postgres it is `read committed`.
   */
  readonly isHook?: boolean;
  /** The hook failed before. On PGlite the transaction begins after a pause: failing hooks must not block the database. */
  readonly isRetry?: boolean;
  /**
   * Reads whether the transaction is committed, if its connection broke during the commit. Waits while it still runs. Undefined if
   * that cannot be read. Default: by the id of the transaction, which costs a round trip before each commit.
   */
  readonly isCommitted?: (db: Queryable) => Promise<boolean | undefined>;
}

/** The transaction of a hook could not begin. `cause` is the error of the hook. */
export class TransactionNotStarted extends IntentError {
  /** True if the database refused to begin it. False if the hook failed or ended before that. */
  readonly isRefused: boolean;

  constructor(cause: unknown, isRefused = true) {
    const message =
      'The transaction of a hook could not begin. `onPaid` and `onReversed` are called again later. The browser ' +
      'must retry a login. See `cause`.';
    super('ledger_unavailable', message, { cause });
    this.isRefused = isRefused;
  }
}

/**
 * The interface between the ledger and a database. The same SQL runs on Postgres (any number of processes) and on
 * PGlite (a folder, one process).
 */
export interface Database extends Queryable {
  /** Whether other processes may use the same database. */
  readonly isShared: boolean;
  /**
   * Commits what `work` writes when it resolves. Rolls back when it rejects or when the commit fails.
   *
   * On PGlite all other calls wait until the open transaction ends. Such a call from within `work` would be a deadlock,
   * so it fails immediately. `work` may set savepoints, but not begin or end transactions. The transaction is
   * rolled back if a statement still runs when `work` ends, or fails and is not rolled back to a savepoint. Session state
   * (settings, a role, session locks, temporary tables, cursors) ends with the transaction.
   * @throws {IntentError} `ledger_unavailable`; if the connection is lost during the commit, and the outcome cannot be read over
   * another one, the commit may have happened
   * @throws {TransactionNotStarted} for a hook @throws what `work` throws
   */
  transaction<Value>(work: TransactionWork<Value>, options?: TransactionOptions): Promise<Value>;
  /**
   * Calls `onMessage` for each message that a process sends to the channel (`pg_notify`), until `close`. Messages sent
   * while disconnected are lost. Undefined if only one process can open the database.
   */
  readonly listen?: ((channel: string, onMessage: (payload: string) => void) => { close(): void }) | undefined;
  /** Waits for running work, up to a timeout, then closes the connections. Can be called again. */
  close(): Promise<void>;
}
