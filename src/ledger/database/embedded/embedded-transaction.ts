import { randomUUID } from 'node:crypto';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { IntentError } from '../../../errors.js';
import type { QueryResult } from '../database.js';
import { explainFault, unreachable } from '../database-fault.js';
import {
  checkTransaction,
  explainCheck,
  markTransaction,
  refuseMember,
  type TransactionScope,
  unlockAll,
} from '../transaction-scope.js';

export interface EmbeddedTransactionOptions {
  readonly pglite: PGlite;
  /** Runs work while nothing else uses the database. @throws {IntentError} `ledger_unavailable` when the turn does not come */
  readonly takeTurn: (work: () => Promise<void>) => Promise<void>;
  /** Called before anything is committed. @throws {IntentError} where nothing may be */
  readonly requireOpen: () => void;
  /** Called when the transaction is open, with a function that makes it fail. */
  readonly onOpen: (abandon: (reason: unknown) => void) => void;
  /** Called when an open transaction is over. */
  readonly onOver: () => void;
}

/** A transaction of PGlite that is given up by its owner; PGlite rolls back when its callback throws. */
const givenUp = new Error('The transaction is rolled back.');

/**
 * One transaction of PGlite. States: not begun, waiting for its turn, open, over. `begin` leads from the first to the third;
 * `commit`, `rollBack` and `cancel` lead to the last.
 */
export class EmbeddedTransaction {
  /** Rejects when the transaction has to end before its work does. */
  readonly abandoned: Promise<never>;
  readonly #options: EmbeddedTransactionOptions;
  readonly #mark = randomUUID();
  #abandon: (reason: unknown) => void = () => undefined;
  #begun: Promise<Transaction> | undefined;
  #rejectBegin: (error: unknown) => void = () => undefined;
  /** Settles when the database is free again. */
  #turn: Promise<void> | undefined;
  #wasOpened = false;
  #isOver = false;
  #isRefused = false;
  readonly #ending: Promise<boolean>;
  #end: (commits: boolean) => void = () => undefined;
  #firstFault: unknown;

  constructor(options: EmbeddedTransactionOptions) {
    this.#options = options;
    this.abandoned = new Promise((_resolve, reject) => {
      this.#abandon = reject;
    });
    this.abandoned.catch(() => undefined);
    this.#ending = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Whether it holds the database. */
  get isOpen(): boolean {
    return this.#wasOpened && !this.#isOver;
  }

  /** Whether it was wanted and has not begun. */
  get hasMissedItsTurn(): boolean {
    return this.#begun !== undefined && !this.#wasOpened;
  }

  /** Whether the database refused to begin it. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Begins it, once. @throws {IntentError} `ledger_unavailable` */
  begin(): Promise<Transaction> {
    this.#begun ??= new Promise((resolve, reject) => {
      this.#rejectBegin = reject;
      this.#turn = this.#options.takeTurn(() => this.#hold(resolve));
      this.#turn.catch((error) => {
        // A hook that waits for itself makes a mistake; the database refuses nothing.
        this.#isRefused = !(error instanceof IntentError && error.code === 'internal_error');
        reject(error);
      });
    });
    return this.#begun;
  }

  async query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const tx = await this.begin();
    return runStatement<Row>(tx, sql, values);
  }

  /** Commits what was written, if anything was. @param firstFault why nothing is committed, where that is so */
  async commit(firstFault: unknown): Promise<void> {
    this.#firstFault = firstFault;
    this.#end(true);
    await this.#turn;
  }

  /** Never throws. */
  async rollBack(): Promise<void> {
    this.cancel();
    this.#end(false);
    if (this.#wasOpened) await this.#turn?.catch(() => undefined);
  }

  /** Rejects what waits for the transaction to begin. It does nothing once the transaction is open. */
  cancel(): void {
    if (this.#wasOpened) return;
    this.#isOver = true;
    this.#rejectBegin(unreachable('The transaction was not begun before its work ended'));
  }

  /** What a query builder needs of a `Transaction` of PGlite, and nothing by which it could leave the transaction. */
  client(scope: TransactionScope): object {
    const query: Transaction['query'] = (sql, values, options) =>
      scope.run(sql, async () => (await this.begin()).query(sql, values, options));
    const exec: Transaction['exec'] = async (sql, options) => [await query(sql, undefined, options)];
    return Object.freeze({ query, exec, sql: refuseMember('sql'), rollback: refuseMember('rollback') });
  }

  async #hold(resolve: (tx: Transaction) => void): Promise<void> {
    if (this.#isOver) return;
    const { pglite, requireOpen, onOpen, onOver } = this.#options;
    try {
      await pglite.transaction(async (tx) => {
        await tx.exec(markTransaction(this.#mark));
        this.#wasOpened = true;
        onOpen(this.#abandon);
        resolve(tx);
        if (!(await this.#ending)) throw givenUp;
        await tx.exec(checkTransaction(this.#mark));
        requireOpen();
      });
    } catch (error) {
      if (error !== givenUp) throw explainCheck(error, this.#firstFault) ?? explainFault(error);
      await pglite.exec(unlockAll);
    } finally {
      this.#isOver = true;
      if (this.#wasOpened) onOver();
    }
  }
}

/** Runs one statement: by the extended protocol several in one text are an error. @throws as `Queryable.query` */
export async function runStatement<Row extends object>(
  on: Pick<PGlite, 'query'>,
  sql: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  try {
    const { rows, affectedRows = 0 } = await on.query<Row>(sql, [...values]);
    return { rows, rowCount: rows.length || affectedRows };
  } catch (error) {
    throw explainFault(error);
  }
}
