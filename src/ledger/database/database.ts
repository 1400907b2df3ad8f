import { IntentError } from '../../errors.js';

/** The result of a statement. */
export interface QueryResult<Row> {
  /** The rows, as objects by column name. */
  readonly rows: readonly Row[];
  /** How many rows the statement found, wrote or changed. */
  readonly rowCount: number;
}

/** Runs statements; parameters are `$1`, `$2`, ... */
export interface Queryable {
  /**
   * Runs one statement. Several in one text are an error.
   * @throws {IntentError} `ledger_unavailable` @throws the error of the database, as the driver gives it
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
   * Members that reach beyond the transaction are left out: `release`, cursors, COPY streams, names of prepared statements.
   */
  readonly client: unknown;
}

/** What a transaction is for. */
export interface TransactionOptions {
  /**
   * It runs a hook of the site, which may hang. On PGlite it then begins with the first statement, and fails when it is open
   * for longer than a few seconds, because everything else waits meanwhile.
   */
  readonly isHook?: boolean;
  /** The hook has failed before. On PGlite it begins only after earlier hooks have left the database to others for a while. */
  readonly isRetry?: boolean;
}

/** The transaction of a hook could not be begun. Its `cause` is the error of the work. */
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
  /** Whether other processes may work in the same database. */
  readonly isShared: boolean;
  /**
   * Commits what `work` writes when it resolves. Rolls back when it rejects or when the commit fails.
   *
   * On PGlite everything else waits meanwhile. A call of the database itself from within `work` is an error at once, because it
   * would wait for ever.
   * `work` may not begin or end transactions; it may set savepoints. A statement that is not awaited, and a failed one that was
   * not rolled back to a savepoint, roll the whole transaction back. Session state (settings, a role, session locks, temporary
   * tables, cursors) ends with the transaction.
   * @throws {IntentError} `ledger_unavailable`; when the connection is lost during the commit, the commit may have happened
   * @throws {TransactionNotBegun} for a hook @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>, options?: TransactionOptions): Promise<Value>;
  /**
   * Receives what any process sends to a channel (`pg_notify`), until it is closed. Messages sent while there is no connection
   * are lost. Undefined where only one process can have the database.
   */
  readonly listen?: ((channel: string, hear: (payload: string) => void) => { close(): void }) | undefined;
  /** Lets running work end, and closes the connections. Can be called again. */
  close(): Promise<void>;
}
