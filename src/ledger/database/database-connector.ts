import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { withAbort } from '../../async/timeout.js';
import { IntentError } from '../../errors.js';
import { unavailable } from '../ledger-events.js';
import type { LedgerLogger, LedgerObserver } from '../settlement/settlement-context.js';
import type { Database } from './database.js';
import { DatabaseOutage } from './database-fault.js';

export interface OpeningOptions {
  /** Opens the database, migrated. */
  readonly open: () => Promise<Database>;
  readonly logger: LedgerLogger;
  readonly observer?: LedgerObserver | undefined;
  /** How long whoever needs the database waits for it, in milliseconds. Default 5000. */
  readonly patienceMs?: number | undefined;
  /** From one failure to the next try: doubled each time up to ten seconds. Default 500. */
  readonly retryMs?: number | undefined;
  /** How long closing waits for one that is just being opened, in milliseconds. Default 15 000. */
  readonly closeMs?: number | undefined;
}

const retryCapMs = 10_000;

/** A database on its way: one that cannot be opened is tried again, for as long as the ledger is wanted. */
export class Opening {
  readonly #options: OpeningOptions;
  readonly #closing = new AbortController();
  /** Aborted once there is nothing more to wait for. */
  readonly #ended = new AbortController();
  readonly #opened: Promise<Database>;
  /** Once it is there nobody waits for it any more. */
  #db: Database | undefined;
  /** The try that is under way, or the next one. */
  #try: Promise<Database>;
  #lastError: unknown;

  constructor(options: OpeningOptions) {
    this.#options = options;
    // As many requests wait as come, and none of them for long: that is no leak to be warned of.
    setMaxListeners(0, this.#ended.signal);
    this.#try = options.open();
    this.#opened = this.#try.catch((error) => this.#retry(error));
    this.#opened.then(
      (db) => {
        this.#db = db;
        this.#ended.abort();
      },
      // Who needs it is told; and nobody may.
      () => this.#ended.abort(),
    );
  }

  /**
   * How it goes: of the first try, and once that has failed, of the next one, so that it can be awaited again.
   * @throws {IntentError} why the database cannot be used, in the words that are in the log
   */
  async ready(): Promise<void> {
    if (this.#db) return;
    try {
      await this.#try;
    } catch (cause) {
      if (this.#closing.signal.aborted) throw hasClosed();
      const code = cause instanceof IntentError ? cause.code : 'ledger_unavailable';
      throw new IntentError(code, `The ${isTriedAgain(cause)}`, { cause });
    }
  }

  /** @throws {IntentError} `ledger_unavailable` when it is not there within bounded time */
  async database(): Promise<Database> {
    if (this.#db) return this.#db;
    await this.#arrival(this.#options.patienceMs ?? 5_000);
    if (this.#db) return this.#db;
    const cause = this.#lastError;
    throw new DatabaseOutage('The ledger is not open.', cause === undefined ? {} : { cause });
  }

  /** Calls `use` once the database is there. */
  whenOpen(use: (db: Database) => void): void {
    this.#opened.then((db) => this.#closing.signal.aborted || use(db)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort(hasClosed());
    const closed = this.#opened.catch(() => undefined).then((db) => db?.close());
    await this.#arrival(this.#options.closeMs ?? 15_000);
    if (this.#ended.signal.aborted) return closed;
    // One that does not come is not waited for; it is closed should it come after all.
    closed.catch(() => undefined);
  }

  /** Bounded, and by a listener that goes again: a promise keeps what waits for it, for as long as it is not settled. */
  async #arrival(ms: number): Promise<void> {
    const { signal } = this.#ended;
    await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }

  async #retry(error: unknown): Promise<Database> {
    const { open, logger, observer, retryMs = 500 } = this.#options;
    this.#tell(error);
    for (let waitMs = retryMs; ; waitMs = Math.min(waitMs * 2, retryCapMs)) {
      this.#try = pause(waitMs, this.#closing.signal).then(open);
      try {
        const db = await this.#try;
        logger.warn('express-intents: the ledger is open now.');
        observer?.emit({ type: 'ledger_back' });
        return db;
      } catch (failure) {
        if (this.#closing.signal.aborted) throw failure;
        if (isTriedAgain(failure) === isTriedAgain(this.#lastError)) this.#lastError = failure;
        else this.#tell(failure);
      }
    }
  }

  #tell(error: unknown): void {
    this.#lastError = error;
    this.#options.logger.error(`express-intents: the ${isTriedAgain(error)}`);
    this.#options.observer?.emit(unavailable(error));
  }
}

function isTriedAgain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `ledger cannot be opened, and is tried again: ${message}`;
}

function hasClosed(): IntentError {
  return new IntentError('ledger_unavailable', 'The ledger is closed.');
}

/** @throws the signal's reason */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return withAbort(signal, () => new Promise((resolve) => void setTimeout(resolve, ms).unref()));
}
