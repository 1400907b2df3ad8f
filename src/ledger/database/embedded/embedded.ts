import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { requirePackage } from '../../../async/optional-package.js';
import { Semaphore, type SemaphoreWait } from '../../../async/semaphore.js';
import { withAbort } from '../../../async/timeout.js';
import { IntentError } from '../../../errors.js';
import {
  type Database,
  type DatabaseTransaction,
  type QueryResult,
  TransactionNotStarted,
  type TransactionOptions,
  type TransactionWork,
} from '../database.js';
import { ledgerClosed, ledgerUnavailable } from '../database-fault.js';
import { requireNoConnectionState, TransactionScope } from '../transaction-scope.js';
import { EmbeddedTransaction, runStatement } from './embedded-transaction.js';
import { FilePresence } from './file-presence.js';
import { type FolderLock, lockFolder } from './folder-lock.js';

export interface EmbeddedOptions extends EmbeddedLimits {
  /** Created if it does not exist. */
  readonly folder: string;
  /** For tests: measures the pauses between hooks. */
  readonly clock?: Clock;
}

/** All in milliseconds. */
interface EmbeddedLimits {
  /** How long a statement or a transaction waits for the others. Default 10 000. */
  readonly waitMs?: number;
  /** Timeout of a hook's transaction. Default 3 000, because health reports `down` if the ledger is busy for 5 s. */
  readonly hookMs?: number;
  /** How long `close` waits for an open transaction. Default 15 000. */
  readonly closeMs?: number;
}

interface Clock {
  now(): number;
  wait(ms: number): Promise<void>;
}

const systemClock: Clock = {
  now: () => performance.now(),
  wait: (ms) => wait(ms, undefined, { ref: false }),
};

/** After the transaction of a hook, retried hooks wait for this many times its duration. */
const pauseFactor = 4;

/**
 * A ledger in a folder, for one process. Commits survive a crash of the process, but not a power failure.
 * @throws {ConfigError} if PGlite is not installed, with how to install it
 * @throws {IntentError} `ledger_locked` if the folder is already open, `invalid_configuration` if it cannot be locked,
 *   `ledger_unavailable` if it cannot be opened
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const { waitMs = 10_000, hookMs = 3_000, closeMs = 15_000, clock = systemClock } = options;
  const folder = path.resolve(options.folder);
  requirePackage('@electric-sql/pglite');
  const { PGlite } = await import('@electric-sql/pglite');
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error) => {
    throw ledgerUnavailable(
      `The folder of the ledger, ${folder}, cannot be created`,
      error,
      'Give the user of this process write access to the parent folder, or set INTENT_DATABASE_URL to another folder.',
    );
  });
  const lock = await lockFolder(folder);
  try {
    // The timer of the progress log would keep an idle process alive.
    const startParams = [...PGlite.defaultStartParams, '-c', 'log_startup_progress_interval=0'];
    const open = (name: string) => PGlite.create({ dataDir: path.join(folder, name), startParams });
    const pglite = await openData(folder, open);
    // While these two files are in place, the folder contains the opened data, and no other process can lock the folder.
    const presence = new FilePresence([lock.file, path.join(folder, 'data/PG_VERSION')]);
    return new EmbeddedDatabase(pglite, lock, presence, { waitMs, hookMs, closeMs, clock });
  } catch (error) {
    await lock.release();
    const fix = 'If its data is damaged, restore the folder from a backup.';
    throw ledgerUnavailable(`The ledger in ${folder} cannot be opened`, error, fix);
  }
}

/** Creates the data under another name first: a process that dies before the rename leaves no incomplete data. */
async function openData(folder: string, open: (name: string) => Promise<PGlite>): Promise<PGlite> {
  if (!existsSync(path.join(folder, 'data'))) {
    await rm(path.join(folder, 'data.new'), { recursive: true, force: true });
    await (await open('data.new')).close();
    await rename(path.join(folder, 'data.new'), path.join(folder, 'data'));
  }
  return open('data');
}

/**
 * One statement or transaction at a time uses the database; the others wait in the queue. The transaction of a hook enters
 * the queue with its first statement, so before that the hook blocks no other.
 *
 *     open    -- close --------------------------------> closing: new calls fail
 *     closing -- the open transaction ends ------------> closed
 *     closing -- it does not end within `closeMs` -----> closed; it is rolled back
 *     open    -- a file is missing or replaced --------> lost: every call fails until a restart
 */
class EmbeddedDatabase implements Database {
  readonly isShared = false;
  readonly #pglite: PGlite;
  readonly #lock: FolderLock;
  readonly #presence: FilePresence;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #hookMs: number;
  readonly #closeMs: number;
  /** Only the holder of its one permit may use the database. */
  readonly #mutex = new Semaphore(1);
  /** The transaction whose work makes the current call. */
  readonly #inside = new AsyncLocalStorage<EmbeddedTransaction>();
  #abandon: ((reason: unknown) => void) | undefined;
  /** Ends with the last retried hook. Retried hooks run in sequence. */
  #lastRetry: Promise<unknown> = Promise.resolve();
  #nextRetryMs = 0;
  #closing: Promise<void> | undefined;

  constructor(
    pglite: PGlite,
    lock: FolderLock,
    presence: FilePresence,
    { waitMs, hookMs, closeMs, clock }: Required<Omit<EmbeddedOptions, 'folder'>>,
  ) {
    this.#clock = clock;
    this.#pglite = pglite;
    this.#lock = lock;
    this.#presence = presence;
    this.#waitMs = waitMs;
    this.#hookMs = hookMs;
    this.#closeMs = closeMs;
  }

  async query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    requireNoConnectionState(sql);
    return this.#runExclusive(() => runStatement<Row>(this.#pglite, sql, values));
  }

  async transaction<Value>(work: TransactionWork<Value>, options: TransactionOptions = {}): Promise<Value> {
    const transaction = this.#newTransaction(options);
    if (!options.isHook) await transaction.begin();
    const scope = new TransactionScope();
    const tx: DatabaseTransaction = {
      query: (sql, values) => scope.run(sql, () => transaction.query(sql, values)),
      client: transaction.client(scope),
    };
    // A query that still waits for the transaction when its work has ended must not block `runWork`.
    const { abandoned } = transaction;
    const boundedWork = () => withAbort(abandoned, () => work(tx, abandoned)).finally(() => transaction.cancel());
    try {
      const value = await this.#inside.run(transaction, () => scope.runWork(boundedWork));
      await transaction.commit(scope.firstFault);
      return value;
    } catch (error) {
      await transaction.rollBack();
      throw transaction.failedToOpen ? new TransactionNotStarted(error, transaction.isRefused) : error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #newTransaction({ isHook, isRetry }: TransactionOptions): EmbeddedTransaction {
    let timer: NodeJS.Timeout | undefined;
    let openedAtMs = 0;
    return new EmbeddedTransaction({
      pglite: this.#pglite,
      requireOpen: () => this.#presence.require(),
      runExclusive: (work) => (isRetry ? this.#runRetryExclusive(work) : this.#runExclusive(work)),
      onOpen: (abandon) => {
        this.#abandon = abandon;
        openedAtMs = this.#clock.now();
        const tooLong = (): void =>
          abandon(
            // An IntentError: the log must not report the slow hook as a bug of this package.
            new IntentError(
              'internal_error',
              `The transaction of a hook was open for over ${this.#hookMs} ms. In onPaid and onReversed, do slow work before ` +
                'the first query of tx; in onLogin, outside of the hook. Or use Postgres.',
            ),
          );
        if (isHook) timer = setTimeout(tooLong, this.#hookMs).unref();
      },
      onEnd: () => {
        clearTimeout(timer);
        const openMs = this.#clock.now() - openedAtMs;
        if (isHook) this.#nextRetryMs = Math.max(this.#nextRetryMs, this.#clock.now() + pauseFactor * openMs);
      },
    });
  }

  /** Retried hooks run in sequence, with pauses: together they leave the database free most of the time. */
  #runRetryExclusive(work: () => Promise<void>): Promise<void> {
    const run = this.#lastRetry.then(async () => {
      const pauseMs = this.#nextRetryMs - this.#clock.now();
      if (pauseMs > 0) await this.#clock.wait(pauseMs);
      return this.#runExclusive(work);
    });
    this.#lastRetry = run.catch(() => undefined);
    return run;
  }

  async #runExclusive<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#inside.getStore()?.isOpen) {
      throw new IntentError('internal_error', 'Deadlock: inside a transaction use `tx`, not `router.database`.');
    }
    this.#requireOpen();
    return this.#mutex.run(busyTimeout(this.#waitMs), async () => {
      this.#requireOpen();
      const value = await work();
      // A write to deleted files is lost.
      this.#presence.require();
      return value;
    });
  }

  async #close(): Promise<void> {
    const abandon = (): void =>
      this.#abandon?.(
        ledgerUnavailable('The transaction was rolled back, because the ledger was closed before it ended'),
      );
    const timer = setTimeout(abandon, this.#closeMs).unref();
    try {
      await this.#mutex.run(busyTimeout(this.#closeMs + 5_000), async () => {
        // Closing writes to the files.
        if (!this.#presence.isGone()) await this.#pglite.close();
      });
    } finally {
      clearTimeout(timer);
    }
    // Not reached if closing failed: the folder then stays open, and locked, until the process ends.
    await this.#lock.release();
  }

  /** @throws {IntentError} `ledger_unavailable` if the database is closed or its files are missing */
  #requireOpen(): void {
    if (this.#closing) throw ledgerClosed();
    this.#presence.require();
  }
}

function busyTimeout(timeoutMs: number): SemaphoreWait {
  const timeoutError = () =>
    ledgerUnavailable(
      `The embedded database was busy with other statements for ${timeoutMs} ms. Keep transactions short, or use Postgres`,
    );
  return { timeoutMs, timeoutError };
}
