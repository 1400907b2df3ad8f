import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { exponentialBackoffMs } from '../../async/backoff.js';
import { IntentError, messageOf } from '../../errors.js';
import type { Observer, RouterEventPayload } from '../../telemetry/router-event.js';
import type { Database, DatabaseTransaction, QueryResult, TransactionOptions } from './database.js';
import { DatabaseLost, DatabaseOutage } from './database-fault.js';

/** Receives what an operator should know. */
export interface LedgerLogger {
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

/** All in milliseconds. */
export interface ConnectorTiming {
  /** How long a call waits for a database that is not open yet. */
  readonly openWaitMs: number;
  /** From the first failed attempt to open it to the next; doubled each time up to ten seconds. */
  readonly retryMs: number;
  /** How long closing waits for an attempt that is under way. */
  readonly closeMs: number;
  /** During an outage, from one trial to the next. */
  readonly trialMs: number;
  /** An outage has ended after so long without a failure; a failure before that belongs to the same outage. */
  readonly calmMs: number;
}

const defaultTiming: ConnectorTiming = {
  openWaitMs: 5_000,
  retryMs: 500,
  closeMs: 15_000,
  trialMs: 1_000,
  calmMs: 3_000,
};
const longestRetryMs = 10_000;

export interface ConnectorOptions {
  /** Opens the database, migrated. */
  readonly open: () => Promise<Database>;
  readonly logger: LedgerLogger;
  readonly observer?: Observer | undefined;
  /** Called once the database is open; never after `close`. */
  readonly onOpen?: (() => void) | undefined;
  /** Called when the database works again during an outage. */
  readonly onRecovered?: (() => void) | undefined;
  readonly timing?: Partial<ConnectorTiming> | undefined;
}

interface Outage {
  readonly error: DatabaseOutage;
  readonly sinceMs: number;
  failedCalls: number;
  /** When a trial last succeeded; 0 before. */
  recoveredAtMs: number;
}

/**
 * The database as the ledger uses it: the only layer between a query and the driver. It opens the database and reports
 * outages once, at their beginning and end, however many calls fail.
 *
 *     connecting  -- an attempt to open it succeeds ------------------> open
 *     connecting  -- an attempt fails --------------------------------> connecting: next attempt after a pause
 *     open        -- a call fails with DatabaseOutage ----------------> down: the outage is reported, trials begin
 *     down        -- a trial succeeds --------------------------------> recovering
 *     recovering  -- a call fails with DatabaseOutage ----------------> recovering or down, by a trial after a pause
 *     recovering  -- nothing fails for calmMs ------------------------> open: the end is reported
 *     any         -- close -------------------------------------------> closed
 *
 * While it is connecting, calls wait up to `openWaitMs`. In all other states they go to the database, whose own limits
 * bound them. A trial writes a row and rolls back, because a readable database may be a replica or have a full disk.
 */
export class DatabaseConnector implements Database {
  readonly #options: ConnectorOptions;
  readonly #timing: ConnectorTiming;
  readonly #closing = new AbortController();
  /** Aborted when no attempt to open the database follows any more. */
  readonly #settled = new AbortController();
  readonly #opened: Promise<Database>;
  #db: Database | undefined;
  /** The current attempt to open it, or the next one. */
  #attempt: Promise<Database>;
  #lastError: unknown;
  /** From its beginning until its end is reported. */
  #outage: Outage | undefined;
  #isTrying = false;
  #isDown = false;
  #calmTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    // Any number of requests wait for a short time: their listeners are not a leak.
    setMaxListeners(0, this.#settled.signal);
    this.#attempt = options.open();
    this.#opened = this.#attempt.catch((error) => this.#retryOpening(error));
    this.#opened.then(
      (db) => {
        this.#db = db;
        this.#settled.abort();
        if (!this.#isClosing) this.#announceOpen();
      },
      // Each call that needs the database gets an error.
      () => this.#settled.abort(),
    );
  }

  #announceOpen(): void {
    try {
      this.#options.onOpen?.();
    } catch (error) {
      const message = 'express-intents: the ledger is open, but settlement did not start';
      this.#options.logger.error(message, { message: messageOf(error) });
    }
  }

  /** True until the database is open. */
  get isShared(): boolean {
    return this.#db?.isShared ?? true;
  }

  /** Undefined until the database is open. */
  get listen(): Database['listen'] {
    return this.#db?.listen?.bind(this.#db);
  }

  /**
   * Resolves when the database is open, rejects when the current attempt fails, and can be called again for the next one.
   * @throws {IntentError} why the database cannot be used, with the message that is logged
   */
  async ready(): Promise<void> {
    if (this.#db) return;
    try {
      await this.#attempt;
    } catch (cause) {
      if (this.#isClosing) throw closedError();
      const code = cause instanceof IntentError ? cause.code : 'ledger_unavailable';
      throw new IntentError(code, `The ${cannotBeOpened(cause)}`, { cause });
    }
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    const db = this.#db ?? (await this.#whenOpen());
    try {
      return await db.query<Row>(sql, values);
    } catch (error) {
      this.#noteFailure(db, error);
      throw error;
    }
  }

  async transaction<Value>(
    work: (tx: DatabaseTransaction) => Promise<Value>,
    options?: TransactionOptions,
  ): Promise<Value> {
    const db = this.#db ?? (await this.#whenOpen());
    try {
      return await db.transaction(work, options);
    } catch (error) {
      this.#noteFailure(db, error);
      throw error;
    }
  }

  /** @throws {DatabaseOutage} while the database is down, also where it can be read */
  requireUp(): void {
    if (this.#isDown && this.#outage) throw this.#outage.error;
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError());
    clearTimeout(this.#calmTimer);
    const closed = this.#opened.catch(() => undefined).then((db) => db?.close());
    await this.#waitUntilSettled(this.#timing.closeMs);
    if (this.#settled.signal.aborted) return closed;
    // An attempt that takes longer is not awaited. Its database is closed when it opens after all.
    closed.catch(() => undefined);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  // ---- Opening ----

  /** @throws {DatabaseOutage} when it is not open in time */
  async #whenOpen(): Promise<Database> {
    await this.#waitUntilSettled(this.#timing.openWaitMs);
    if (this.#db) return this.#db;
    const cause = this.#lastError;
    throw new DatabaseOutage('The ledger is not open.', cause === undefined ? {} : { cause });
  }

  /** A timer with a listener that is removed. A pending promise would keep every caller that ever waited for it. */
  async #waitUntilSettled(ms: number): Promise<void> {
    const { signal } = this.#settled;
    await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }

  async #retryOpening(error: unknown): Promise<Database> {
    const { open, logger, observer } = this.#options;
    const { signal } = this.#closing;
    this.#reportOpening(error);
    const backoff = { firstMs: this.#timing.retryMs, capMs: longestRetryMs };
    for (let retry = 0; ; retry += 1) {
      const delayMs = exponentialBackoffMs(backoff, retry);
      this.#attempt = wait(delayMs, undefined, { signal, ref: false }).then(open);
      try {
        const db = await this.#attempt;
        logger.warn('express-intents: the ledger is open now.');
        observer?.emit({ type: 'ledger_recovered' });
        return db;
      } catch (failure) {
        if (this.#isClosing) throw failure;
        const isReported = cannotBeOpened(failure) === cannotBeOpened(this.#lastError);
        this.#lastError = failure;
        if (!isReported) this.#reportOpening(failure);
      }
    }
  }

  #reportOpening(error: unknown): void {
    this.#lastError = error;
    this.#options.logger.error(`express-intents: the ${cannotBeOpened(error)}`);
    this.#options.observer?.emit(unavailableEvent(error));
  }

  // ---- Outages ----

  #noteFailure(db: Database, error: unknown): void {
    if (!(error instanceof DatabaseOutage) || this.#isClosing) return;
    this.#outage ??= this.#beginOutage(error);
    this.#outage.failedCalls += 1;
    if (this.#isTrying) return;
    this.#isTrying = true;
    clearTimeout(this.#calmTimer);
    void this.#tryUntilUp(db, this.#outage);
  }

  #beginOutage(error: DatabaseOutage): Outage {
    const { logger, observer } = this.#options;
    const consequence = error instanceof DatabaseLost ? untilRestart : untilItWorks;
    logger.error(`express-intents: ${error.message.replace(/\.?$/, '.')} ${consequence}`);
    observer?.emit(unavailableEvent(error));
    return { error, sinceMs: performance.now(), failedCalls: 0, recoveredAtMs: 0 };
  }

  async #tryUntilUp(db: Database, outage: Outage): Promise<void> {
    // Calls may fail while trials succeed. Without a pause trials would follow as fast as calls fail.
    if (outage.recoveredAtMs > 0) await this.#pauseTrials();
    else this.#isDown = true;
    while (!this.#isClosing && !(await canWrite(db))) {
      this.#isDown = true;
      await this.#pauseTrials();
    }
    if (this.#isClosing) return;
    this.#isTrying = false;
    this.#isDown = false;
    outage.recoveredAtMs = performance.now();
    this.#calmTimer = setTimeout(() => this.#endOutage(outage), this.#timing.calmMs).unref();
    this.#options.onRecovered?.();
  }

  async #pauseTrials(): Promise<void> {
    const { signal } = this.#closing;
    await wait(this.#timing.trialMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  #endOutage({ sinceMs, recoveredAtMs, failedCalls }: Outage): void {
    this.#outage = undefined;
    const seconds = ((recoveredAtMs - sinceMs) / 1_000).toFixed(1);
    const { logger, observer } = this.#options;
    logger.warn(
      `express-intents: the database of the ledger works again; ${failedCalls} calls of it had failed, within ${seconds} s.`,
    );
    observer?.emit({ type: 'ledger_recovered' });
  }
}

/** The event of an error because of which the ledger does not work. */
export function unavailableEvent(error: unknown): RouterEventPayload {
  return { type: 'ledger_unavailable', code: error instanceof IntentError ? error.code : 'internal_error' };
}

function cannotBeOpened(error: unknown): string {
  return `ledger cannot be opened, and is tried again: ${messageOf(error)}`;
}

function closedError(): IntentError {
  return new IntentError('ledger_unavailable', 'The ledger is closed.');
}

async function canWrite(db: Database): Promise<boolean> {
  const rollBack = new Error('The row of a trial is rolled back.');
  const insert = `insert into express_intents.intents (id, kind, state) values ($1, 'login', 'creating')`;
  try {
    await db.transaction(async (tx) => {
      await tx.query(insert, [`trial ${crypto.randomUUID()}`]);
      throw rollBack;
    });
  } catch (error) {
    // Any other error, such as a missing table, is not an outage.
    return !(error instanceof IntentError && error.code === 'ledger_unavailable');
  }
  return true;
}

const untilRestart =
  'Until this process is restarted, intents and logins are answered 503 ledger_unavailable and payments wait.';

const untilItWorks =
  'Until it works again, intents and logins are answered 503 ledger_unavailable and payments wait; it is tried every second, ' +
  'and nothing has to be restarted.';
