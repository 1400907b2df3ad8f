import { randomUUID } from 'node:crypto';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { LightAbortController } from '../../../async/abort.js';
import { IntentError } from '../../../errors.js';
import type { QueryResult } from '../database.js';
import { ledgerUnavailable, toLedgerError } from '../database-fault.js';
import {
  checkTransactionSql,
  explainCheck,
  markTransactionSql,
  refuseMember,
  type TransactionScope,
  unlockAllSql,
} from '../transaction-scope.js';

export interface EmbeddedTransactionOptions {
  readonly pglite: PGlite;
  /** Runs work while nothing else uses the database. @throws {IntentError} `ledger_unavailable` if the wait times out */
  readonly runExclusive: (work: () => Promise<void>) => Promise<void>;
  /** Called before the commit. @throws {IntentError} if nothing may be committed */
  readonly requireOpen: () => void;
  /** Called when the transaction opens, with a function that makes it fail. */
  readonly onOpen: (abandon: (reason: unknown) => void) => void;
  readonly onEnd: () => void;
}

const rollBackError = new Error('The transaction is rolled back.');

/**
 * One transaction of PGlite.
 *
 *     created           -- begin -----------------> waiting
 *     waiting           -- it may run alone ------> open
 *     waiting           -- that is refused -------> ended, and `isRefused`
 *     open              -- commit, rollBack ------> ended
 *     created, waiting  -- cancel ----------------> ended
 */
export class EmbeddedTransaction {
  /** Aborted when the transaction must end before its work does. */
  readonly abandoned = new LightAbortController();
  readonly #options: EmbeddedTransactionOptions;
  readonly #mark = randomUUID();
  #begun: Promise<Transaction> | undefined;
  #rejectBegin: (error: unknown) => void = () => undefined;
  #exclusiveRun: Promise<void> | undefined;
  #wasOpened = false;
  #hasEnded = false;
  #isRefused = false;
  readonly #ending: Promise<boolean>;
  #end: (commits: boolean) => void = () => undefined;
  #firstFault: unknown;

  constructor(options: EmbeddedTransactionOptions) {
    this.#options = options;
    this.#ending = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#wasOpened && !this.#hasEnded;
  }

  get failedToOpen(): boolean {
    return this.#begun !== undefined && !this.#wasOpened;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Begins the transaction, once. @throws {IntentError} `ledger_unavailable` */
  begin(): Promise<Transaction> {
    this.#begun ??= new Promise((resolve, reject) => {
      this.#rejectBegin = reject;
      this.#exclusiveRun = this.#options.runExclusive(() => this.#hold(resolve));
      this.#exclusiveRun.catch((error) => {
        // A deadlock is an error of the hook, not a refusal of the database.
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

  /** Commits if the transaction was begun. @param firstFault the error of the first failed statement, if any */
  async commit(firstFault: unknown): Promise<void> {
    this.#firstFault = firstFault;
    this.#end(true);
    await this.#exclusiveRun;
  }

  /** Never throws. */
  async rollBack(): Promise<void> {
    this.cancel();
    this.#end(false);
    if (this.#wasOpened) await this.#exclusiveRun?.catch(() => undefined);
  }

  /** Rejects the callers that wait for the transaction to begin. Does nothing once it is open. */
  cancel(): void {
    if (this.#wasOpened) return;
    this.#hasEnded = true;
    this.#rejectBegin(
      ledgerUnavailable(
        'The hook, or the function passed to `transaction`, ended or timed out before its transaction began. Await every query of tx',
      ),
    );
  }

  /** The members of a PGlite `Transaction` for a query builder, except those that could leave the transaction. */
  client(scope: TransactionScope): object {
    const query: Transaction['query'] = (sql, values, options) =>
      scope.run(sql, async () => (await this.begin()).query(sql, values, options));
    const exec: Transaction['exec'] = async (sql, options) => [await query(sql, undefined, options)];
    return Object.freeze({ query, exec, sql: refuseMember('sql'), rollback: refuseMember('rollback') });
  }

  async #hold(resolve: (tx: Transaction) => void): Promise<void> {
    if (this.#hasEnded) return;
    const { pglite, requireOpen, onOpen, onEnd } = this.#options;
    try {
      await pglite.transaction(async (tx) => {
        await tx.exec(markTransactionSql(this.#mark));
        this.#wasOpened = true;
        onOpen((reason) => this.abandoned.abort(reason));
        resolve(tx);
        if (!(await this.#ending)) throw rollBackError;
        await tx.exec(checkTransactionSql(this.#mark));
        requireOpen();
      });
    } catch (error) {
      if (error !== rollBackError) throw explainCheck(error, this.#firstFault) ?? toLedgerError(error);
      await pglite.exec(unlockAllSql);
    } finally {
      this.#hasEnded = true;
      if (this.#wasOpened) onEnd();
    }
  }
}

/** Runs one statement. The extended protocol rejects several in one text. @throws as `Queryable.query` */
export async function runStatement<Row extends object>(
  on: Pick<PGlite, 'query'>,
  sql: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  try {
    const { rows, affectedRows = 0 } = await on.query<Row>(sql, [...values]);
    return { rows, rowCount: rows.length || affectedRows };
  } catch (error) {
    throw toLedgerError(error);
  }
}
