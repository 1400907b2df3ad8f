import type { QueryResult as PgResult, PoolClient, QueryConfig } from 'pg';
import type { QueryResult } from '../database.js';
import { ConnectionOutdated, isOutdated, isUsableAfter, toLedgerError } from '../database-fault.js';
import { nameOfPrepared } from '../prepared.js';
import { checkTransactionSql, explainCheck, rolledBack, unlockAllSql } from '../transaction-scope.js';
import type { LivenessMonitor } from './liveness-monitor.js';

interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
}

export interface TransactionId {
  /** Null if the transaction has written nothing. */
  readonly xid: string | null;
  /** When the server started. After a failover, another server may use the id again. */
  readonly server: string;
}

/** A connection of the pool between `acquire` and `release`. Usable until an error breaks it. A broken connection stays broken. */
export class PostgresConnection {
  readonly client: PoolClient;
  isBroken = false;
  /** Broken, because the tables have changed since it was opened. The same is probably true of all other connections. */
  isOutdated = false;
  readonly #monitor: LivenessMonitor;
  readonly #proven: Set<string> | undefined;

  /** @param proven the named statements that have worked on this connection. Undefined if no statement may have a name */
  constructor(client: PoolClient, monitor: LivenessMonitor, proven: Set<string> | undefined) {
    this.client = client;
    this.#monitor = monitor;
    this.#proven = proven;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const proven = this.#proven;
    const name = proven && nameOfPrepared(sql);
    try {
      const result = await this.execute({ name, text: sql, values });
      if (name) proven.add(name);
      return { rows: (result?.rows ?? []) as Row[], rowCount: result?.rowCount ?? 0 };
    } catch (error) {
      // A statement that has never worked on this connection has an error of its own.
      if (!name || !proven.has(name) || !isOutdated(error)) throw toLedgerError(error);
      this.isBroken = this.isOutdated = true;
      throw new ConnectionOutdated(error);
    }
  }

  /** Runs one statement. The extended protocol rejects several in one text. @throws the error of the driver */
  execute(statement: Statement): Promise<PgResult | undefined> {
    return this.#send({ ...statement, queryMode: 'extended' } as unknown as QueryConfig);
  }

  async begin(sql: string): Promise<void> {
    try {
      await this.#send(sql);
    } catch (error) {
      // The first statement may have succeeded. Without a rollback the connection would stay in a failed transaction.
      await this.rollBack();
      throw toLedgerError(error);
    }
  }

  /** Never throws. If it fails, the connection is broken, and the server rolls back when the connection ends. */
  async rollBack(): Promise<void> {
    if (!this.isBroken) await this.#send(`rollback; ${unlockAllSql}`).catch(() => undefined);
  }

  /** @throws as `commit` */
  async readTransactionId(firstFault: unknown): Promise<TransactionId> {
    try {
      const result = await this.#send(
        'select pg_current_xact_id_if_assigned()::text as xid, extract(epoch from pg_postmaster_start_time())::text as server',
      );
      return result?.rows[0];
    } catch (error) {
      await this.rollBack();
      throw explainCheck(error, firstFault) ?? toLedgerError(error);
    }
  }

  /**
   * @returns the error that broke the connection, if one did: the transaction may or may not be committed
   * @throws also if a failed statement made the server roll back, with `firstFault` as its cause
   */
  async commit(mark: string, firstFault: unknown): Promise<unknown> {
    let result: PgResult | undefined;
    try {
      result = await this.#send(`${checkTransactionSql(mark)}; commit`);
    } catch (error) {
      if (this.isBroken) return error;
      await this.rollBack();
      throw explainCheck(error, firstFault) ?? toLedgerError(error);
    }
    if (result?.command !== 'COMMIT') throw rolledBack(firstFault);
    return undefined;
  }

  /** Sends one statement, or several by the simple protocol. @returns the last result @throws the error of the driver */
  async #send(statement: string | QueryConfig): Promise<PgResult | undefined> {
    try {
      const results: PgResult | PgResult[] = await this.#monitor.track(() =>
        this.client.query(statement as QueryConfig),
      );
      return [results].flat().at(-1);
    } catch (error) {
      this.isBroken ||= !isUsableAfter(error);
      throw error;
    }
  }
}
