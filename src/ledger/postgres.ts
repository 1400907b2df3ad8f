import type { QueryResult as PgResult, PoolClient } from 'pg';
import type { Database, DatabaseTransaction, QueryResult } from './database.js';
import { explainFault, isUsableAfter, outage } from './database-fault.js';
import { type PostgresBounds, PostgresPool } from './postgres-pool.js';
import { rolledBack, TransactionScope } from './transaction-scope.js';

export interface PostgresOptions extends Partial<PostgresBounds> {
  /** `postgres://` or `postgresql://`. */
  readonly url: string;
  /** How long a transaction may wait between two statements before the server ends it, in milliseconds. Default 60 000. */
  readonly idleInTransactionMs?: number | undefined;
}

const defaultBounds: PostgresBounds = { connectMs: 5_000, statementMs: 10_000, closeMs: 15_000 };

/**
 * A ledger in Postgres, for any number of processes. It connects when it is first asked. A pooler that gives a connection
 * for one transaction may stand in between: nothing is set for longer, and no statement is prepared by name.
 * @throws {ConfigError} where `pg` is not installed, with how to install it
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, idleInTransactionMs = 60_000, ...given } = options;
  const bounds = { ...defaultBounds, ...given };
  const begin = `begin; set local statement_timeout = ${bounds.statementMs}; \
set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
  return new PostgresDatabase(await PostgresPool.load(url, bounds), begin);
}

class PostgresDatabase implements Database {
  readonly isShared = true;
  readonly #pool: PostgresPool;
  readonly #begin: string;

  constructor(pool: PostgresPool, begin: string) {
    this.#pool = pool;
    this.#begin = begin;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const connection = await this.#take();
    try {
      return await connection.query<Row>(sql, values);
    } finally {
      this.#pool.giveBack(connection.client, connection.isBroken);
    }
  }

  async transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    const connection = await this.#take();
    try {
      return await this.#transact(connection, work);
    } finally {
      this.#pool.giveBack(connection.client, connection.isBroken);
    }
  }

  listen(channel: string, hear: (payload: string) => void): { close(): void } {
    return this.#pool.listen(channel, hear);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #take(): Promise<Connection> {
    return new Connection(await this.#pool.take(), this.#pool);
  }

  async #transact<Value>(connection: Connection, work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    await connection.query(this.#begin);
    const scope = new TransactionScope((sql, values) => connection.query(sql, values), connection.client);
    let value: Value;
    try {
      value = await scope.hold(work);
    } catch (error) {
      await connection.rollBack();
      throw error;
    }
    await connection.commit(scope.firstFault);
    return value;
  }
}

/** A connection while somebody has it. */
class Connection {
  readonly client: PoolClient;
  /** Whether it may not be used any more. */
  isBroken = false;
  readonly #pool: PostgresPool;

  constructor(client: PoolClient, pool: PostgresPool) {
    this.client = client;
    this.#pool = pool;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const result = await this.#run(sql, values).catch((error) => {
      throw explainFault(error);
    });
    return { rows: (result?.rows ?? []) as Row[], rowCount: result?.rowCount ?? 0 };
  }

  /** Never throws: where it fails, the connection is broken, and the server rolls back when it ends. */
  async rollBack(): Promise<void> {
    if (!this.isBroken) await this.#run('rollback').catch(() => undefined);
  }

  /** @throws also when nothing was committed because a statement had failed, with `reason` as its cause */
  async commit(reason: unknown): Promise<void> {
    const result = await this.#run('commit').catch((error) => {
      throw this.isBroken
        ? outage('The connection was lost during the commit; it may have been done', error)
        : explainFault(error);
    });
    if (result?.command !== 'COMMIT') throw rolledBack(reason);
  }

  async #run(sql: string, values?: readonly unknown[]): Promise<PgResult | undefined> {
    try {
      // One result for each of several statements.
      const ask = () => this.client.query(sql, values as unknown[] | undefined);
      return [await this.#pool.follow(ask)].flat().at(-1);
    } catch (error) {
      this.isBroken ||= !isUsableAfter(error);
      throw error;
    }
  }
}
