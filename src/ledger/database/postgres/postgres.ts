import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { IntentError } from '../../../errors.js';
import type { Database, DatabaseTransaction, Queryable, QueryResult, TransactionOptions } from '../database.js';
import { ConnectionOutdated, databaseOutage } from '../database-fault.js';
import { markTransactionSql, refuseMember, requireNoConnectionState, TransactionScope } from '../transaction-scope.js';
import type { PostgresConnection, TransactionId } from './postgres-connection.js';
import { type PostgresLimits, PostgresPool } from './postgres-pool.js';

export interface PostgresOptions extends Partial<PostgresLimits> {
  readonly url: string;
  /** The server ends a transaction that is idle for this long, in milliseconds. Default 60 000. */
  readonly idleInTransactionMs?: number | undefined;
}

const defaultLimits: PostgresLimits = { connectMs: 5_000, statementMs: 10_000, closeMs: 15_000 };

/**
 * A ledger in Postgres, for any number of processes. It connects with the first query. It works through a pooler in
 * transaction mode: there no setting outlasts a transaction, and no statement is prepared by name.
 * @throws {ConfigError} if `pg` is not installed, with how to install it
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, idleInTransactionMs = 60_000, ...given } = options;
  const limits = { ...defaultLimits, ...given };
  const settings = `set local statement_timeout = ${limits.statementMs}; \
set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
  return new PostgresDatabase(await PostgresPool.load(url, limits), settings);
}

class PostgresDatabase implements Database {
  readonly isShared = true;
  readonly #pool: PostgresPool;
  readonly #settings: string;

  /** @param settings the statements that set the limits of a transaction */
  constructor(pool: PostgresPool, settings: string) {
    this.#pool = pool;
    this.#settings = settings;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    requireNoConnectionState(sql);
    try {
      return await this.#query(sql, values);
    } catch (error) {
      if (!(error instanceof ConnectionOutdated)) throw error;
      // It wrote nothing. A connection that is opened now has the new tables.
      return this.#query<Row>(sql, values).catch((repeated) => {
        throw repeated instanceof ConnectionOutdated ? repeated.cause : repeated;
      });
    }
  }

  async #query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const connection = await this.#pool.acquire();
    try {
      return await connection.query<Row>(sql, values);
    } finally {
      this.#pool.release(connection);
    }
  }

  async transaction<Value>(
    work: (tx: DatabaseTransaction) => Promise<Value>,
    { isHook, isCommitted }: TransactionOptions = {},
  ): Promise<Value> {
    // At a stricter level, which may be the default of the database, a heartbeat during a hook would make its last write fail.
    const level = isHook ? ' isolation level read committed' : '';
    let readOutcome = isCommitted;
    let value: Value;
    let lost: unknown;
    const connection = await this.#pool.acquire();
    try {
      const mark = randomUUID();
      await connection.begin(`begin${level}; ${this.#settings}; ${markTransactionSql(mark)}`);
      const scope = new TransactionScope();
      value = await runWork(connection, scope, work);
      readOutcome ??= hasStatusCommitted(await connection.readTransactionId(scope.firstFault));
      lost = await connection.commit(mark, scope.firstFault);
    } finally {
      this.#pool.release(connection);
    }
    const hasCommitted = lost === undefined || (await readOutcome(this).catch(() => undefined));
    if (hasCommitted) return value;
    const outcome = hasCommitted === false ? 'is rolled back' : 'may or may not be committed';
    throw databaseOutage(`The connection was lost during the commit, so the transaction ${outcome}`, lost);
  }

  listen(channel: string, onMessage: (payload: string) => void): { close(): void } {
    return this.#pool.listen(channel, onMessage);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const pollMs = 100;
const maxPolls = 50;

/** Reads the outcome of a transaction by its id. Undefined if it wrote nothing, still runs after {@link maxPolls}, or the server restarted. */
function hasStatusCommitted({ xid, server }: TransactionId): (db: Queryable) => Promise<boolean | undefined> {
  return async (db) => {
    for (let poll = 0; poll < maxPolls; poll += 1) {
      const { rows } = await db.query<{ status: string | null }>(
        'select pg_xact_status($1::xid8) as status where extract(epoch from pg_postmaster_start_time())::text = $2',
        [xid, server],
      );
      const status = rows[0]?.status;
      if (status !== 'in progress') return status ? status === 'committed' : undefined;
      await wait(pollMs);
    }
    return undefined;
  };
}

async function runWork<Value>(
  connection: PostgresConnection,
  scope: TransactionScope,
  work: (tx: DatabaseTransaction) => Promise<Value>,
): Promise<Value> {
  const tx: DatabaseTransaction = {
    query: (sql, values) => scope.run(sql, () => connection.query(sql, values)),
    client: clientOf(connection, scope),
  };
  try {
    return await scope.runWork(() => work(tx));
  } catch (error) {
    await connection.rollBack();
    throw error;
  }
}

type Callback = (error: unknown, result?: unknown) => void;

/** The members of a pg client that a query builder needs, except those that could leave the transaction. */
function clientOf(connection: PostgresConnection, scope: TransactionScope): object {
  const query = (first: unknown, ...rest: unknown[]): Promise<unknown> | undefined => {
    // A query object with its own `submit` can send anything.
    if (typeof (first as { submit?: unknown } | undefined)?.submit === 'function')
      throw new IntentError(
        'internal_error',
        'tx.client.query() does not accept an object with its own submit(), such as a cursor or a stream. Pass SQL and values.',
      );
    const config = (typeof first === 'object' ? first : { text: first }) as QueryConfig & {
      readonly callback?: Callback;
    };
    const values = Array.isArray(rest[0]) ? rest[0] : config.values;
    const callback = rest.find((one) => typeof one === 'function') ?? config.callback;
    const { text } = config;
    // A statement prepared by name would outlast the transaction on its connection.
    const single = { ...config, text, values, name: undefined, callback: undefined };
    const result = scope.run(text, () => connection.execute(single));
    if (!callback) return result;
    void result.then((value) => (callback as Callback)(null, value), callback as Callback);
    return undefined;
  };
  const { client } = connection;
  const refused = ['connect', 'end', 'setTypeParser'].map((name) => [name, refuseMember(name)]);
  return Object.freeze({
    query,
    escapeIdentifier: (name: string) => client.escapeIdentifier(name),
    escapeLiteral: (text: string) => client.escapeLiteral(text),
    // Query builders call it after each query. The ledger releases the connection.
    release: () => undefined,
    ...Object.fromEntries(refused),
  });
}
