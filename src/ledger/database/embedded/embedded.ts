import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { requirePackage } from '../../../async/optional-package.js';
import { IntentError } from '../../../errors.js';
import {
  type Database,
  type DatabaseTransaction,
  type QueryResult,
  TransactionNotBegun,
  type TransactionOptions,
} from '../database.js';
import { DatabaseLost, outage, unreachable } from '../database-fault.js';
import { requireNoConnectionState, TransactionScope } from '../transaction-scope.js';
import { EmbeddedTransaction, runStatement } from './embedded-transaction.js';
import { type FolderLock, lockFolder } from './folder-lock.js';
import { Turns } from './mutex.js';

export interface EmbeddedOptions extends Bounds {
  /** Made where there is none. */
  readonly folder: string;
  /** For tests: by which the pauses between hooks go. */
  readonly clock?: Clock;
}

/** All in milliseconds. */
interface Bounds {
  /** How long a statement or a transaction waits for another transaction to end. Default 10 000. */
  readonly waitMs?: number;
  /** How long the transaction of a hook may be open. Default 3 000: health says `down` after 4 000. */
  readonly hookMs?: number;
  /** How long a transaction may still run once the database is closed. Default 15 000. */
  readonly closeMs?: number;
}

/** The time, in milliseconds. */
interface Clock {
  now(): number;
  wait(ms: number): Promise<void>;
}

const systemClock: Clock = {
  now: () => performance.now(),
  wait: (ms) => wait(ms, undefined, { ref: false }),
};

/** A hook that is called again leaves the database to others for so many times as long as the one before it was open. */
const pausePerOpenMs = 4;

/**
 * A ledger in a folder, for one process. What was committed survives the death of the process; it may not survive a loss
 * of power.
 * @throws {ConfigError} where PGlite is not installed, with how to install it
 * @throws {IntentError} `ledger_locked` where the folder is open already, `ledger_unavailable` where it cannot be opened
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const { waitMs = 10_000, hookMs = 3_000, closeMs = 15_000, clock = systemClock } = options;
  const folder = path.resolve(options.folder);
  requirePackage('@electric-sql/pglite');
  const { PGlite } = await import('@electric-sql/pglite');
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error) => {
    throw unreachable('The folder of the ledger cannot be made', error);
  });
  const lock = await lockFolder(folder);
  try {
    // Without a timer that would keep a process alive which has nothing else to do.
    const startParams = [...PGlite.defaultStartParams, '-c', 'log_startup_progress_interval=0'];
    const open = (name: string) => PGlite.create({ dataDir: path.join(folder, name), startParams });
    const pglite = await openData(folder, open);
    // While these two are in their place, the data is what was opened, and no other process takes the folder for free.
    const presence = new FilePresence([lock.file, path.join(folder, 'data/PG_VERSION')]);
    return new EmbeddedDatabase(pglite, lock, presence, { waitMs, hookMs, closeMs, clock });
  } catch (error) {
    await lock.release();
    throw unreachable(`The ledger in ${folder} cannot be opened`, error);
  }
}

/** Makes the data under another name first, so that a process that dies meanwhile leaves nothing that is half made. */
async function openData(folder: string, open: (name: string) => Promise<PGlite>): Promise<PGlite> {
  if (!existsSync(path.join(folder, 'data'))) {
    await rm(path.join(folder, 'data.new'), { recursive: true, force: true });
    await (await open('data.new')).close();
    await rename(path.join(folder, 'data.new'), path.join(folder, 'data'));
  }
  return open('data');
}

/** Files that stay what they are. States: all are there; gone, for good. */
class FilePresence {
  readonly #identities: ReadonlyMap<string, string | undefined>;
  #isGone = false;

  constructor(files: readonly string[]) {
    this.#identities = new Map(files.map((file) => [file, identityOf(file)]));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** @throws {DatabaseLost} where one of them is missing or another file is in its place, or ever was */
  require(): void {
    for (const [file, identity] of this.#identities) {
      if (!this.#isGone && identity !== undefined && identityOf(file) === identity) continue;
      this.#isGone = true;
      throw new DatabaseLost(
        `${file} was moved or deleted while the ledger was open. Nothing more is written to the ledger, since another process ` +
          'may have opened it. Put the folder back where it was and restart this process',
      );
    }
  }
}

/** What tells a file from another one of its name; undefined where there is none. @throws {DatabaseOutage} */
function identityOf(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}`;
  } catch (error) {
    throw outage('The folder of the ledger cannot be read', error);
  }
}

class EmbeddedDatabase implements Database {
  readonly isShared = false;
  readonly #pglite: PGlite;
  readonly #lock: FolderLock;
  readonly #presence: FilePresence;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #hookMs: number;
  readonly #closeMs: number;
  readonly #turns = new Turns();
  /** The transaction that the caller is in. */
  readonly #inside = new AsyncLocalStorage<EmbeddedTransaction>();
  /** Makes the transaction fail that is open. */
  #abandon: ((reason: unknown) => void) | undefined;
  /** The hook that was called again last, for the next one to wait for. */
  #lastRetry: Promise<unknown> = Promise.resolve();
  /** No hook that is called again begins a transaction before this. */
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
    return this.#takeTurn(() => runStatement<Row>(this.#pglite, sql, values));
  }

  async transaction<Value>(
    work: (tx: DatabaseTransaction) => Promise<Value>,
    options: TransactionOptions = {},
  ): Promise<Value> {
    const transaction = this.#newTransaction(options);
    if (!options.isHook) await transaction.begin();
    const scope = new TransactionScope();
    const tx: DatabaseTransaction = {
      query: (sql, values) => scope.run(sql, () => transaction.query(sql, values)),
      client: transaction.client(scope),
    };
    // What still waits for the transaction when its work has ended must not keep `hold` waiting.
    const bounded = () => Promise.race([work(tx), transaction.abandoned]).finally(() => transaction.cancel());
    try {
      const value = await this.#inside.run(transaction, () => scope.hold(bounded));
      await transaction.commit(scope.firstFault);
      return value;
    } catch (error) {
      await transaction.rollBack();
      throw transaction.hasMissedItsTurn ? new TransactionNotBegun(error, transaction.isRefused) : error;
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
      takeTurn: (work) => (isRetry ? this.#takeRetryTurn(work) : this.#takeTurn(work)),
      onOpen: (abandon) => {
        this.#abandon = abandon;
        openedAtMs = this.#clock.now();
        const tooLong = (): void =>
          abandon(new Error(`The hook has had its transaction open for longer than ${this.#hookMs} ms.`));
        if (isHook) timer = setTimeout(tooLong, this.#hookMs).unref();
      },
      onOver: () => {
        clearTimeout(timer);
        const openMs = this.#clock.now() - openedAtMs;
        if (isHook) this.#nextRetryMs = this.#clock.now() + pausePerOpenMs * openMs;
      },
    });
  }

  /** One hook that is called again at a time, so that all of them together leave the database to others most of the time. */
  #takeRetryTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#lastRetry.then(async () => {
      const pauseMs = this.#nextRetryMs - this.#clock.now();
      if (pauseMs > 0) await this.#clock.wait(pauseMs);
      return this.#takeTurn(work);
    });
    this.#lastRetry = turn.catch(() => undefined);
    return turn;
  }

  async #takeTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#inside.getStore()?.isOpen) {
      const message =
        'The ledger was asked itself from within one of its transactions, which it waits for: use tx there.';
      throw new IntentError('internal_error', message);
    }
    this.#requireOpen();
    return this.#turns.take(this.#waitMs, async () => {
      this.#requireOpen();
      const value = await work();
      // What was written into files that are gone by now is not kept.
      this.#presence.require();
      return value;
    });
  }

  async #close(): Promise<void> {
    const abandon = (): void => this.#abandon?.(unreachable('The ledger was closed while a transaction was open'));
    const timer = setTimeout(abandon, this.#closeMs).unref();
    try {
      await this.#turns.take(this.#closeMs + 5_000, async () => {
        // Closing writes as well.
        if (!this.#presence.isGone) await this.#pglite.close();
      });
    } finally {
      clearTimeout(timer);
    }
    // Not where closing has failed: then the folder is still open, until the process ends.
    await this.#lock.release();
  }

  /** @throws {IntentError} `ledger_unavailable` where the database is closed, or its files are gone */
  #requireOpen(): void {
    if (this.#closing) throw unreachable('The ledger is closed');
    this.#presence.require();
  }
}
