import type { QueryResult as PgResult, PoolClient, QueryConfig } from 'pg';
import type { QueryResult } from '../database.js';
import { isPreparedInvalid, isUsableAfter, PreparedInvalid, toLedgerError } from '../database-fault.js';
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
  readonly #monitor: LivenessMonitor;
  readonly #prepared: Set<string> | undefined;
  #isInTransaction = false;

  /** @param prepared the names of the statements that have succeeded on this connection; undefined if none may be named */
  constructor(client: PoolClient, monitor: LivenessMonitor, prepared: Set<string> | undefined) {
    this.client = client;
    this.#monitor = monitor;
    this.#prepared = prepared;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    try {
      const name = this.#prepared && nameOfPrepared(sql);
      const statement = { text: sql, values };
      const result = await (name ? this.#executePrepared({ ...statement, name }) : this.execute(statement));
      return { rows: (result?.rows ?? []) as Row[], rowCount: result?.rowCount ?? 0 };
    } catch (error) {
      throw toLedgerError(error);
    }
  }

  /** Runs one statement. The extended protocol rejects several in one text. @throws the error of the driver */
  execute(statement: Statement): Promise<PgResult | undefined> {
    return this.#send({ ...statement, queryMode: 'extended' } as unknown as QueryConfig);
  }

  /**
   * If the database no longer accepts the prepared statement, all of this connection may be invalid, so it counts as broken. The
   * statement is repeated without a name. An aborted transaction accepts no repetition.
   */
  async #executePrepared({ name, ...statement }: Statement & { readonly name: string }): Promise<PgResult | undefined> {
    try {
      const result = await this.execute({ ...statement, name });
      this.#prepared?.add(name);
      return result;
    } catch (error) {
      if (!isPreparedInvalid(error, this.#prepared?.has(name))) throw error;
      this.isBroken = true;
      if (this.#isInTransaction) throw new PreparedInvalid(error);
      return this.execute(statement);
    }
  }

  async begin(sql: string): Promise<void> {
    this.#isInTransaction = true;
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
