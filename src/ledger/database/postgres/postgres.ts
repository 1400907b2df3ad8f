import { randomUUID } from 'node:crypto';
import type { QueryResult as PgResult, PoolClient, QueryConfig } from 'pg';
import type { Database, DatabaseTransaction, QueryResult } from '../database.js';
import { explainFault, isUsableAfter, outage } from '../database-fault.js';
import {
  checkTransaction,
  explainCheck,
  markTransaction,
  refuseMember,
  requireNoConnectionState,
  rolledBack,
  TransactionScope,
  unlockAll,
} from '../transaction-scope.js';
import { type PostgresBounds, PostgresPool } from './postgres-pool.js';

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
    requireNoConnectionState(sql);
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
    const mark = randomUUID();
    await connection.control(`${this.#begin}; ${markTransaction(mark)}`);
    const scope = new TransactionScope();
    const tx: DatabaseTransaction = {
      query: (sql, values) => scope.run(sql, () => connection.query(sql, values)),
      client: clientOf(connection, scope),
    };
    let value: Value;
    try {
      value = await scope.hold(() => work(tx));
    } catch (error) {
      await connection.rollBack();
      throw error;
    }
    await connection.commit(mark, scope.firstFault);
    return value;
  }
}

interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
}

type Callback = (error: unknown, result?: unknown) => void;

/** What a query builder needs of a client of pg, and nothing by which it could leave the transaction. */
function clientOf(connection: Connection, scope: TransactionScope): object {
  const query = (first: unknown, ...rest: unknown[]): Promise<unknown> | undefined => {
    // A query object that sends itself can send anything.
    if (typeof (first as { submit?: unknown } | undefined)?.submit === 'function')
      return refuseMember('query(object)')();
    const config = (typeof first === 'object' ? first : { text: first }) as QueryConfig & {
      readonly callback?: Callback;
    };
    const values = Array.isArray(rest[0]) ? rest[0] : config.values;
    const callback = rest.find((one) => typeof one === 'function') ?? config.callback;
    const { text } = config;
    // Not prepared by a name, which would stay on the connection.
    const single = { ...config, text, values, name: undefined, callback: undefined };
    const result = scope.run(text, () => connection.run(single));
    if (!callback) return result;
    void result.then((value) => (callback as Callback)(null, value), callback as Callback);
    return undefined;
  };
  const { client } = connection;
  const refused = ['connect', 'release', 'end', 'setTypeParser'].map((name) => [name, refuseMember(name)]);
  return Object.freeze({
    query,
    escapeIdentifier: (name: string) => client.escapeIdentifier(name),
    escapeLiteral: (text: string) => client.escapeLiteral(text),
    ...Object.fromEntries(refused),
  });
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
    const result = await this.run({ text: sql, values }).catch((error) => {
      throw explainFault(error);
    });
    return { rows: (result?.rows ?? []) as Row[], rowCount: result?.rowCount ?? 0 };
  }

  /** Runs one statement: by the extended protocol several in one text are an error. @throws what the driver does */
  run(statement: Statement): Promise<PgResult | undefined> {
    return this.#follow(() => this.client.query({ ...statement, queryMode: 'extended' } as unknown as QueryConfig));
  }

  /** Runs statements of ours. */
  async control(sql: string): Promise<PgResult | undefined> {
    return this.#control(sql).catch((error) => {
      throw explainFault(error);
    });
  }

  /** Never throws: where it fails, the connection is broken, and the server rolls back when it ends. */
  async rollBack(): Promise<void> {
    if (!this.isBroken) await this.#control(`rollback; ${unlockAll}`).catch(() => undefined);
  }

  /** @throws also when nothing was committed because a statement had failed, with `reason` as its cause */
  async commit(mark: string, reason: unknown): Promise<void> {
    const result = await this.#control(`${checkTransaction(mark)}; commit`).catch(async (error) => {
      if (this.isBroken) throw outage('The connection was lost during the commit; it may have been done', error);
      await this.rollBack();
      throw explainCheck(error, reason) ?? explainFault(error);
    });
    if (result?.command !== 'COMMIT') throw rolledBack(reason);
  }

  #control(sql: string): Promise<PgResult | undefined> {
    return this.#follow(() => this.client.query(sql));
  }

  async #follow(ask: () => Promise<PgResult | PgResult[]>): Promise<PgResult | undefined> {
    try {
      // One result for each of several statements.
      return [await this.#pool.follow(ask)].flat().at(-1);
    } catch (error) {
      this.isBroken ||= !isUsableAfter(error);
      throw error;
    }
  }
}
