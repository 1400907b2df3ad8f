import { IntentError } from '../errors.js';
import { bounded } from './bounded.js';
import type { Database } from './database.js';
import type { LedgerLogger } from './settlement-context.js';

export interface OpeningOptions {
  /** Opens the database, migrated. */
  readonly open: () => Promise<Database>;
  readonly logger: LedgerLogger;
  /** How long whoever needs the database waits for it, in milliseconds. Default 5000. */
  readonly patienceMs?: number | undefined;
  /** From one failure to the next try: doubled each time up to ten seconds. Default 500. */
  readonly retryMs?: number | undefined;
}

const retryCapMs = 10_000;

/** A database on its way: one that cannot be opened is tried again, for as long as the ledger is wanted. */
export class Opening {
  readonly #options: OpeningOptions;
  readonly #closing = new AbortController();
  readonly #first: Promise<Database>;
  readonly #opened: Promise<Database>;
  /** Once it is there nobody waits for it any more. */
  #db: Database | undefined;
  #lastError: unknown;

  constructor(options: OpeningOptions) {
    this.#options = options;
    this.#first = options.open();
    this.#opened = this.#first.catch((error) => this.#retry(error));
    this.#opened.then(
      (db) => {
        this.#db = db;
      },
      // Who needs it is told; and nobody may.
      () => undefined,
    );
  }

  /** How the first try went. @throws {IntentError} why the database cannot be used */
  async ready(): Promise<void> {
    await this.#first;
  }

  /** @throws {IntentError} `ledger_unavailable` when it is not there within bounded time */
  async database(): Promise<Database> {
    if (this.#db) return this.#db;
    const { patienceMs = 5_000 } = this.#options;
    try {
      return await bounded(AbortSignal.timeout(patienceMs), () => this.#opened);
    } catch (error) {
      throw new IntentError('ledger_unavailable', 'The ledger is not open.', { cause: this.#lastError ?? error });
    }
  }

  /** Calls `use` once the database is there. */
  whenOpen(use: (db: Database) => void): void {
    this.#opened.then((db) => this.#closing.signal.aborted || use(db)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const db = await this.#opened.catch(() => undefined);
    await db?.close();
  }

  async #retry(error: unknown): Promise<Database> {
    const { open, logger, retryMs = 500 } = this.#options;
    this.#tell(error);
    for (let waitMs = retryMs; ; waitMs = Math.min(waitMs * 2, retryCapMs)) {
      await pause(waitMs, this.#closing.signal);
      try {
        const db = await open();
        logger.warn('express-intents: the ledger is open now.');
        return db;
      } catch (failure) {
        this.#lastError = failure;
      }
    }
  }

  #tell(error: unknown): void {
    this.#lastError = error;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.error(`express-intents: the ledger cannot be opened, and is tried again: ${message}`);
  }
}

/** @throws the signal's reason */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return bounded(signal, () => new Promise((resolve) => void setTimeout(resolve, ms).unref()));
}
