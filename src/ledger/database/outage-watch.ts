import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../errors.js';
import { unavailable } from '../ledger-events.js';
import type { LedgerLogger, LedgerObserver } from '../settlement/settlement-context.js';
import type { Database, DatabaseTransaction, QueryResult, TransactionOptions } from './database.js';
import { DatabaseLost, DatabaseOutage } from './database-fault.js';

/**
 * In milliseconds: from one trial whether the database works again to the next; and after how long it has really come back,
 * while what fails before that is the same outage.
 */
const defaultTiming = { trialMs: 1_000, calmMs: 3_000 };

export interface OutageWatchOptions {
  readonly logger: LedgerLogger;
  readonly observer?: LedgerObserver | undefined;
  /** Called when the database works again. */
  readonly onOver: () => void;
  /** For tests: from one trial to the next, and how long it has to work. */
  readonly timing?: { readonly trialMs: number; readonly calmMs: number };
}

interface Outage {
  readonly error: DatabaseOutage;
  readonly sinceMs: number;
  /** How many calls have failed. */
  calls: number;
  /** When the database last worked again. */
  endMs: number;
}

/**
 * Watches a database while others use it. An outage befalls all calls, so its beginning and its end are told once, and not by
 * each of them; it is over when something can be written again, which is tried until it can.
 */
export class OutageWatch implements Database {
  declare readonly listen?: NonNullable<Database['listen']>;
  readonly #db: Database;
  readonly #options: OutageWatchOptions;
  readonly #closing = new AbortController();
  /** Until its end is told. */
  #outage: Outage | undefined;
  /** Whether its end is waited for. */
  #isWaiting = false;
  #isDown = false;
  #calm: NodeJS.Timeout | undefined;

  constructor(db: Database, options: OutageWatchOptions) {
    this.#db = db;
    this.#options = options;
    if (db.listen) this.listen = db.listen.bind(db);
  }

  get isShared(): boolean {
    return this.#db.isShared;
  }

  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    return this.#watch(this.#db.query<Row>(sql, values));
  }

  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>, options?: TransactionOptions): Promise<Value> {
    return this.#watch(this.#db.transaction(work, options));
  }

  close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#calm);
    return this.#db.close();
  }

  /** @throws {DatabaseOutage} what began it, while one lasts */
  requireNone(): void {
    if (this.#isDown && this.#outage) throw this.#outage.error;
  }

  async #watch<Value>(call: Promise<Value>): Promise<Value> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof DatabaseOutage && !this.#isClosing) this.#note(error);
      throw error;
    }
  }

  #note(error: DatabaseOutage): void {
    this.#outage ??= this.#begin(error);
    this.#outage.calls += 1;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    clearTimeout(this.#calm);
    void this.#waitForEnd(this.#outage);
  }

  #begin(error: DatabaseOutage): Outage {
    const { logger, observer } = this.#options;
    logger.error(
      `express-intents: ${error.message.replace(/\.?$/, '.')} ${error instanceof DatabaseLost ? untilRestart : meanwhile}`,
    );
    observer?.emit(unavailable(error));
    return { error, sinceMs: performance.now(), calls: 0, endMs: 0 };
  }

  async #waitForEnd(outage: Outage): Promise<void> {
    const { calmMs } = this.#timing;
    // What goes on failing beside a trial that works would else be tried, and what waits for it begun, as fast as it fails.
    if (outage.endMs > 0) await this.#pause();
    else this.#isDown = true;
    while (!this.#isClosing && !(await this.#works())) {
      this.#isDown = true;
      await this.#pause();
    }
    if (this.#isClosing) return;
    this.#isWaiting = false;
    this.#isDown = false;
    outage.endMs = performance.now();
    this.#calm = setTimeout(() => this.#tellEnd(outage), calmMs).unref();
    this.#options.onOver();
  }

  get #timing(): typeof defaultTiming {
    return this.#options.timing ?? defaultTiming;
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #pause(): Promise<void> {
    const { signal } = this.#closing;
    await wait(this.#timing.trialMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  #tellEnd({ sinceMs, endMs, calls }: Outage): void {
    this.#outage = undefined;
    const seconds = ((endMs - sinceMs) / 1_000).toFixed(1);
    const { logger, observer } = this.#options;
    logger.warn(
      `express-intents: the database of the ledger works again; ${calls} calls of it had failed, within ${seconds} s.`,
    );
    observer?.emit({ type: 'ledger_back' });
  }

  /** A row is written, and taken back: what can be read may be a replica, or have a full disk. */
  async #works(): Promise<boolean> {
    const takenBack = new Error('The row of a trial is taken back.');
    const insert = `insert into express_intents.intents (id, kind, state) values ($1, 'login', 'creating')`;
    try {
      await this.#db.transaction(async (tx) => {
        await tx.query(insert, [`trial ${crypto.randomUUID()}`]);
        throw takenBack;
      });
    } catch (error) {
      // Whatever else it says against that, such as that there is no such table, is no outage.
      return !(error instanceof IntentError && error.code === 'ledger_unavailable');
    }
    return true;
  }
}

const untilRestart =
  'Until this process is restarted, intents and logins are answered 503 ledger_unavailable and payments wait.';

const meanwhile =
  'Until it works again, intents and logins are answered 503 ledger_unavailable and payments wait; it is tried every second, ' +
  'and nothing has to be restarted.';
