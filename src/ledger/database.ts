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
   * Runs one statement. Without `values` there may be several, parted by semicolons, and what the last gives is given back.
   * @throws {IntentError} `ledger_unavailable` @throws what the database says against the statement, as the driver gives it
   */
  query<Row extends object = Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}

/** A transaction that is open. Once it is over, `query` rejects. */
export interface DatabaseTransaction extends Queryable {
  /** What the driver itself has: a `PoolClient` of pg, or a `Transaction` of PGlite, to hand to a query builder. */
  readonly client: unknown;
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
   * one that failed without being taken back to a savepoint, roll the whole back.
   * @throws {IntentError} `ledger_unavailable`; when the connection is lost during the commit, it may have been done
   * @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value>;
  /**
   * Hears what is told on a channel (`pg_notify`), by this process or another, until it is closed. What is told while there
   * is no connection is lost. Not there where one process alone can have the database.
   */
  listen?(channel: string, hear: (payload: string) => void): { close(): void };
  /** Lets what runs end, and closes the connections. Can be called again. */
  close(): Promise<void>;
}
