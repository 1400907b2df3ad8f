import { IntentError } from '../errors.js';
import type { DatabaseTransaction, Queryable, QueryResult } from './database.js';

/** What would end a transaction from within, also behind comments; `rollback to` a savepoint does not. */
const transactionControl =
  /^(?:\s|;|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/** Keeps what `work` asks of a transaction inside of it: no statement comes after its end, and none ends it. */
export class TransactionScope implements DatabaseTransaction {
  /** What the first statement failed with, for the case that nobody else tells. */
  firstFault: unknown;
  readonly client: unknown;
  readonly #run: Queryable['query'];
  #isOver = false;
  #running = 0;
  /** Statements go one after the other, also those that are asked for at once. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(run: Queryable['query'], client: object) {
    this.#run = run;
    this.client = new Proxy(client, { get: (target, name) => this.#propertyOf(target, name) });
  }

  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const result = this.#ask<Row>(sql, values);
    // A statement that nobody waits for fails the transaction, and must not end the process besides.
    result.catch(() => undefined);
    return result;
  }

  /** Runs `work`, and gives what it gives once nothing runs any more. */
  async hold<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    let wasWaitedFor = false;
    try {
      const value = await work(this);
      wasWaitedFor = this.#running === 0;
      if (wasWaitedFor) return value;
      throw new IntentError(
        'internal_error',
        'A statement of a transaction was not waited for: await every query of tx.',
      );
    } finally {
      this.#isOver = true;
      await this.#last;
    }
  }

  async #ask<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    this.#require(sql);
    this.#running += 1;
    const result = this.#last.then(() => this.#run<Row>(sql, values));
    this.#last = result.catch(() => undefined);
    try {
      return await result;
    } catch (error) {
      this.firstFault ??= error;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  #require(sql: unknown): void {
    if (this.#isOver)
      throw new IntentError('internal_error', 'The transaction is over; its tx takes no more statements.');
    if (typeof sql !== 'string' || !transactionControl.test(sql)) return;
    throw new IntentError(
      'internal_error',
      'The transaction is begun and ended by the ledger: tx takes no BEGIN, COMMIT or ROLLBACK.',
    );
  }

  /** What a query builder sees of the driver's own client. */
  #propertyOf(target: object, name: string | symbol): unknown {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    if (name === 'release' || name === 'end' || name === 'rollback') {
      return () => {
        throw new IntentError('internal_error', `The ledger ends its transaction itself: ${name}() is not for others.`);
      };
    }
    if (name !== 'query' && name !== 'exec') return value.bind(target);
    return (first: unknown, ...rest: unknown[]) => {
      this.#require((first as { text?: unknown } | undefined)?.text ?? first);
      return value.call(target, first, ...rest);
    };
  }
}

/** What a commit comes to when a statement has failed and the one who asked for it went on regardless. */
export function rolledBack(cause: unknown): IntentError {
  const message = 'The transaction was rolled back, since a statement in it had failed.';
  return new IntentError('internal_error', message, cause === undefined ? {} : { cause });
}
