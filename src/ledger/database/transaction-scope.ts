import { types } from 'node:util';
import { withCallerStack } from '../../caller-stack.js';
import { IntentError, messageOf, withPeriod } from '../../errors.js';
import { sqlStateOf } from './database-fault.js';

/**
 * Keeps the statements of one transaction inside it.
 *
 *     open   -- `runWork` ends --> ended; final
 *
 * While open, statements run one after the other. After the end, every statement is rejected.
 */
export class TransactionScope {
  /** The error of the statement that aborted the transaction. Undefined again after a rollback to a savepoint. */
  firstFault: unknown;
  #hasEnded = false;
  #running = 0;
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(sql: unknown, send: () => Promise<Result>): Promise<Result> {
    const result = withCallerStack(() => this.#run(sql, send));
    // A statement that still runs when `work` ends rolls the transaction back. Its rejection must not also end the process.
    result.catch(() => undefined);
    return result;
  }

  /**
   * Runs `work`. When the promise settles, no statement of the transaction is running and none can start.
   * @throws what `work` throws; if that is only "transaction aborted" (25P02), an error whose cause is `firstFault`
   */
  async runWork<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      const value = await work();
      if (this.#running === 0) return value;
      throw new IntentError(
        'internal_error',
        'The transaction was rolled back: a query was not awaited. Await every query of tx.',
      );
    } catch (error) {
      throw this.firstFault !== undefined && isAborted(error) ? rolledBack(this.firstFault) : error;
    } finally {
      this.#hasEnded = true;
      await this.#last;
    }
  }

  async #run<Result>(sql: unknown, send: () => Promise<Result>): Promise<Result> {
    if (this.#hasEnded)
      throw new IntentError(
        'internal_error',
        'The transaction has ended: its tx accepts no more statements. Await every query.',
      );
    requireNoTransactionControl(sql);
    this.#running += 1;
    const result = this.#last.then(send);
    this.#last = result.catch(() => undefined);
    try {
      const answer = await result;
      // A statement succeeds only if the transaction is not aborted.
      this.firstFault = undefined;
      return answer;
    } catch (error) {
      this.firstFault ??= error;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }
}

/** Statements that begin or end a transaction, and named statements. `rollback to` a savepoint does neither. */
const transactionControl =
  /^(?:begin|start|commit|end|abort|prepare|deallocate|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/** Statements about named statements, which outlast the transaction. Some of them belong to the ledger. */
const isNamedStatement = /^(?:deallocate|prepare\s+(?!transaction\b))/i;

/** Statements whose effect outlasts them on the connection. */
const connectionState = /^(?:begin|start|commit|end|abort|prepare|deallocate|rollback|set|reset|listen|discard)\b/i;

/** Each text has one statement. @throws {IntentError} if it would begin or end a transaction, or names a statement */
function requireNoTransactionControl(sql: unknown): void {
  const [keyword] = transactionControl.exec(statementOf(sql)) ?? [];
  if (keyword === undefined) return;
  const reason = isNamedStatement.test(statementOf(sql))
    ? 'Pass SQL and values to query().'
    : 'The ledger begins and ends the transaction. To roll back, throw an error. Savepoints are allowed.';
  throw new IntentError('internal_error', `tx does not accept ${keyword.toUpperCase()}. ${reason}`);
}

/** @throws {IntentError} if a statement outside a transaction would change the state of its connection */
export function requireNoConnectionState(sql: unknown): void {
  const [keyword] = connectionState.exec(statementOf(sql)) ?? [];
  if (keyword === undefined) return;
  throw new IntentError(
    'internal_error',
    `${keyword.toUpperCase()} is not accepted here, because each query may run on another connection. ` +
      'Use transaction(), and SET LOCAL for settings in it. For LISTEN use a connection of your own.',
  );
}

/** The text from its first keyword. As in Postgres, comments nest, and a line ends at `\n` or `\r`. */
function statementOf(sql: unknown): string {
  if (typeof sql !== 'string') throw new IntentError('internal_error', 'A statement must be a string of SQL.');
  let rest = sql;
  for (;;) {
    rest = rest.replace(/^[\s;]+/, '');
    if (rest.startsWith('--')) rest = rest.replace(/^--[^\n\r]*/, '');
    else if (rest.startsWith('/*')) rest = afterComment(rest);
    else return rest;
  }
}

function afterComment(text: string): string {
  let depth = 0;
  for (const mark of text.matchAll(/\/\*|\*\//g)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return text.slice(mark.index + 2);
  }
  return '';
}

/** Marks a transaction until it ends. Must run before its work. */
export function markTransactionSql(mark: string): string {
  return `set local express_intents.transaction = '${mark}'`;
}

const endedByWork = 'The hook, or the function passed to `transaction`, ended its own transaction';

/**
 * Fails if the transaction is no longer the marked one, and resets the state of the connection. The cast of a
 * text to an integer fails (22P02). The message of the database quotes the text, by which `explainCheck` recognizes it. Must
 * run last before the commit, by the simple protocol. Prepared statements stay: they are those of the ledger, or behind a pooler
 * of another client.
 */
export function checkTransactionSql(mark: string): string {
  return `select (case when current_setting('express_intents.transaction', true) = '${mark}' then '1' else '${endedByWork}' end)::int;
reset session authorization; reset all; unlisten *; close all; discard temp; ${unlockAllSql}`;
}

/** Advisory locks of the session survive a rollback. */
export const unlockAllSql = 'select pg_advisory_unlock_all()';

/** The work ended its transaction itself, so some of its writes may be committed. It must not run again. */
export class TransactionEndedByWork extends IntentError {}

/** The meaning of an error of {@link checkTransactionSql}. Undefined for any other error of the database. */
export function explainCheck(error: unknown, firstFault: unknown): IntentError | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === '25P02') return rolledBack(firstFault);
  if (code !== '22P02' || !String(message).includes(endedByWork)) return undefined;
  return new TransactionEndedByWork(
    'internal_error',
    `${endedByWork}, or reset its settings. Some of its writes may be committed. Remove COMMIT, ROLLBACK and RESET ALL.`,
  );
}

/** Whether an error or one of its causes is 25P02: a statement ran after another had aborted the transaction. */
function isAborted(error: unknown): boolean {
  let each = error;
  for (let depth = 0; depth < 6 && types.isNativeError(each); depth += 1) {
    if (sqlStateOf(each) === '25P02') return true;
    each = each.cause;
  }
  return false;
}

/**
 * The error of a transaction whose work continued after a failed statement: it caught the error, or did not await the
 * statement. @param cause the error of that statement
 */
export function rolledBack(cause: unknown): IntentError {
  const failed = 'The transaction was rolled back, because a statement in it failed';
  if (cause === undefined) return new IntentError('internal_error', `${failed}.`);
  const fix = 'Await it without catching its error, or set a savepoint before it and roll back to it.';
  const message = `${failed} and its error was caught or not awaited: ${withPeriod(messageOf(cause))} ${fix}`;
  return new IntentError('internal_error', message, { cause });
}

/** A substitute for a member of a driver's client that would reach beyond the transaction. */
export function refuseMember(name: string): () => never {
  return () => {
    const message = `tx.client has no ${name}(), because it belongs to one transaction. Use its query().`;
    throw new IntentError('internal_error', message);
  };
}
