import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { exponentialBackoffMs } from '../../async/backoff.js';
import { IntentError, messageOf, withPeriod } from '../../errors.js';
import type { Observer, RouterEventPayload } from '../../telemetry/router-event.js';
import type { Database, QueryResult, TransactionOptions, TransactionWork } from './database.js';
import { DatabaseLost, DatabaseOutage, ledgerClosed } from './database-fault.js';

export interface LedgerLogger {
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

/** All in milliseconds. */
export interface ConnectorTiming {
  readonly openWaitMs: number;
  /** From the first failed attempt to open to the next; doubled each time, up to ten seconds. */
  readonly retryMs: number;
  /** How long `close` waits for a running attempt to open. */
  readonly closeMs: number;
  /** During an outage, from one probe write to the next. */
  readonly probeMs: number;
  /** An outage ends after this long without a failure. A failure before that belongs to the same outage. */
  readonly stableMs: number;
}

const defaultTiming: ConnectorTiming = {
  openWaitMs: 5_000,
  retryMs: 500,
  closeMs: 15_000,
  probeMs: 1_000,
  stableMs: 3_000,
};
const longestRetryMs = 10_000;

export interface ConnectorOptions {
  readonly open: () => Promise<Database>;
  readonly logger: LedgerLogger;
  readonly observer?: Observer | undefined;
  readonly onOpen?: (() => void) | undefined;
  readonly onRecovered?: (() => void) | undefined;
  readonly timing?: Partial<ConnectorTiming> | undefined;
}

interface Outage {
  readonly error: DatabaseOutage;
  readonly sinceMs: number;
  failedCalls: number;
  recoveredAtMs: number;
}

/**
 * Opens the database, retries until that succeeds, passes all queries of the ledger to it, and logs the beginning and
 * the end of each outage.
 *
 *     connecting  -- an attempt to open succeeds --------> open
 *     connecting  -- an attempt fails -------------------> connecting; the next attempt follows after a backoff
 *     open        -- a call fails with DatabaseOutage ---> down; the outage is logged, probes begin
 *     down        -- a probe succeeds -------------------> recovering
 *     recovering  -- a call fails with DatabaseOutage ---> recovering if the next probe succeeds, otherwise down
 *     recovering  -- no failure for stableMs ------------> open; the end is logged
 *     any         -- close ------------------------------> closed
 *
 * While connecting, calls wait up to `openWaitMs`. In all other states calls go to the database, whose own timeouts
 * bound them. A probe writes a row and rolls back: a database that can only be read may be a replica or have a full
 * disk.
 */
export class DatabaseConnector implements Database {
  readonly #options: ConnectorOptions;
  readonly #timing: ConnectorTiming;
  readonly #closing = new AbortController();
  readonly #openingEnded = new AbortController();
  readonly #opened: Promise<Database>;
  #db: Database | undefined;
  #attempt: Promise<Database>;
  #lastError: unknown;
  /** Set until its end is logged. */
  #outage: Outage | undefined;
  #isProbing = false;
  #isDown = false;
  #stableTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    // Any number of requests may wait for a short time. Their listeners are not a leak.
    setMaxListeners(0, this.#openingEnded.signal);
    this.#attempt = options.open();
    this.#opened = this.#attempt.catch((error) => this.#retryOpening(error));
    this.#opened.then(
      (db) => {
        this.#db = db;
        this.#openingEnded.abort();
        if (!this.#isClosing) this.#announceOpen();
      },
      () => this.#openingEnded.abort(),
    );
  }

  #announceOpen(): void {
    try {
      this.#options.onOpen?.();
    } catch (error) {
      const message =
        'express-intents: the ledger is open, but settlement did not start, so this process settles no payments. ' +
        'Restart this process.';
      this.#options.logger.error(message, { message: messageOf(error) });
    }
  }

  get isShared(): boolean {
    return this.#db?.isShared ?? true;
  }

  get listen(): Database['listen'] {
    return this.#db?.listen?.bind(this.#db);
  }

  /** Resolves when the database is open. Rejects when the current attempt fails. The log has what this means for the site. */
  async ready(): Promise<void> {
    if (this.#db) return;
    try {
      await this.#attempt;
    } catch (cause) {
      if (this.#isClosing) throw ledgerClosed();
      const message = `The ledger cannot be opened: ${messageOf(cause)}`;
      if (!(cause instanceof IntentError)) throw new IntentError('ledger_unavailable', message, { cause });
      // Without `cause` itself between: the message contains its message.
      throw new IntentError(cause.code, message, 'cause' in cause ? { cause: cause.cause } : {});
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

  async transaction<Value>(work: TransactionWork<Value>, options?: TransactionOptions): Promise<Value> {
    const db = this.#db ?? (await this.#whenOpen());
    try {
      return await db.transaction(work, options);
    } catch (error) {
      this.#noteFailure(db, error);
      throw error;
    }
  }

  /** @throws {DatabaseOutage} while the database is down, even if it can be read */
  requireUp(): void {
    if (this.#isDown && this.#outage) throw this.#outage.error;
  }

  async close(): Promise<void> {
    this.#closing.abort(ledgerClosed());
    clearTimeout(this.#stableTimer);
    const closed = this.#opened.catch(() => undefined).then((db) => db?.close());
    await this.#waitUntilOpeningEnded(this.#timing.closeMs);
    if (this.#openingEnded.signal.aborted) return closed;
    // An attempt that takes longer is not awaited. If it opens the database later, the database is closed then.
    closed.catch(() => undefined);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #whenOpen(): Promise<Database> {
    await this.#waitUntilOpeningEnded(this.#timing.openWaitMs);
    if (this.#db) return this.#db;
    this.#closing.signal.throwIfAborted();
    const cause = this.#lastError;
    const message = 'The ledger is not open yet. See the log.';
    throw new DatabaseOutage(message, cause === undefined ? {} : { cause });
  }

  /** Does not race `#opened`: a pending promise would keep the reactions of all callers that ever waited for it. */
  async #waitUntilOpeningEnded(ms: number): Promise<void> {
    const { signal } = this.#openingEnded;
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
        logger.warn('express-intents: the ledger is open. No action is needed.');
        observer?.emit({ type: 'ledger_recovered' });
        return db;
      } catch (failure) {
        if (this.#isClosing) throw failure;
        const isReported = openingFailureText(failure) === openingFailureText(this.#lastError);
        this.#lastError = failure;
        if (!isReported) this.#reportOpening(failure);
      }
    }
  }

  #reportOpening(error: unknown): void {
    this.#lastError = error;
    this.#options.logger.error(`express-intents: the ${openingFailureText(error)}`);
    this.#options.observer?.emit(unavailableEvent(error));
  }

  #noteFailure(db: Database, error: unknown): void {
    if (!(error instanceof DatabaseOutage) || this.#isClosing) return;
    this.#outage ??= this.#beginOutage(error);
    this.#outage.failedCalls += 1;
    if (this.#isProbing) return;
    this.#isProbing = true;
    clearTimeout(this.#stableTimer);
    void this.#probeUntilUp(db, this.#outage);
  }

  #beginOutage(error: DatabaseOutage): Outage {
    const { logger, observer } = this.#options;
    const outlook = error instanceof DatabaseLost ? untilRestart : untilItWorks;
    logger.error(`express-intents: ${withPeriod(error.message)} ${outlook}`);
    observer?.emit(unavailableEvent(error));
    return { error, sinceMs: performance.now(), failedCalls: 0, recoveredAtMs: 0 };
  }

  async #probeUntilUp(db: Database, outage: Outage): Promise<void> {
    // Calls may fail while probes succeed. Without a pause, probes would run as fast as calls fail.
    if (outage.recoveredAtMs > 0) await this.#pauseProbes();
    else this.#isDown = true;
    while (!this.#isClosing && !(await canWrite(db))) {
      this.#isDown = true;
      await this.#pauseProbes();
    }
    if (this.#isClosing) return;
    this.#isProbing = false;
    this.#isDown = false;
    outage.recoveredAtMs = performance.now();
    this.#stableTimer = setTimeout(() => this.#endOutage(outage), this.#timing.stableMs).unref();
    this.#options.onRecovered?.();
  }

  async #pauseProbes(): Promise<void> {
    const { signal } = this.#closing;
    await wait(this.#timing.probeMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  #endOutage({ sinceMs, recoveredAtMs, failedCalls }: Outage): void {
    this.#outage = undefined;
    const seconds = ((recoveredAtMs - sinceMs) / 1_000).toFixed(1);
    const { logger, observer } = this.#options;
    logger.warn(
      `express-intents: the database of the ledger works again after ${seconds} s. Failed database calls: ${failedCalls}.`,
    );
    observer?.emit({ type: 'ledger_recovered' });
  }
}

export function unavailableEvent(error: unknown): RouterEventPayload {
  return { type: 'ledger_unavailable', code: error instanceof IntentError ? error.code : 'internal_error' };
}

function openingFailureText(error: unknown): string {
  return `ledger cannot be opened: ${withPeriod(messageOf(error))} ${untilItOpens}`;
}

async function canWrite(db: Database): Promise<boolean> {
  const rollBack = new Error('The probe row is rolled back.');
  const insert = `insert into express_intents.intents (id, kind) values ($1, 'login')`;
  try {
    await db.transaction(async (tx) => {
      await tx.query(insert, [`probe ${crypto.randomUUID()}`]);
      throw rollBack;
    });
  } catch (error) {
    // Any other error, such as a missing table, is not an outage.
    return !(error instanceof IntentError && error.code === 'ledger_unavailable');
  }
  return true;
}

const refused = 'requests for intents and logins get 503 ledger_unavailable';
const untilRestart = `Until this process is restarted, ${refused}, and payments wait.`;
/** The URL is read once, at startup. */
const restartFix = 'Restart only to change INTENT_DATABASE_URL.';
const notLost = 'Payments are not lost: they settle later.';
const untilItWorks = `Until it works again, ${refused}. ${notLost} The database is tested every second. ${restartFix}`;
const untilItOpens = `Until it opens, ${refused}. ${notLost} ${restartFix}`;
