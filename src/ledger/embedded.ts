import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { IntentError } from '../errors.js';
import type { Database, DatabaseTransaction, QueryResult } from './database.js';
import { explainFault, unreachable } from './database-fault.js';
import { type FolderLock, lockFolder } from './folder-lock.js';
import { requirePackage } from './optional-package.js';
import { rolledBack, TransactionScope } from './transaction-scope.js';
import { Turns } from './turns.js';

export interface EmbeddedOptions {
  /** Made where there is none. */
  readonly folder: string;
  /** How long a statement or a transaction waits for another transaction to end, in milliseconds. Default 10 000. */
  readonly waitMs?: number | undefined;
  /** How long a transaction may still run once the database is closed, in milliseconds. Default 15 000. */
  readonly closeMs?: number | undefined;
}

/**
 * A ledger in a folder, for one process. What was committed survives the death of the process; it may not survive a loss
 * of power.
 * @throws {ConfigError} where PGlite is not installed, with how to install it
 * @throws {IntentError} `ledger_locked` where the folder is open already, `ledger_unavailable` where it cannot be opened
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const { waitMs = 10_000, closeMs = 15_000 } = options;
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
    return new EmbeddedDatabase(await openData(folder, open), lock, waitMs, closeMs);
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

class EmbeddedDatabase implements Database {
  readonly isShared = false;
  readonly #pglite: PGlite;
  readonly #lock: FolderLock;
  readonly #waitMs: number;
  readonly #closeMs: number;
  readonly #turns = new Turns();
  /** The transaction that the caller is in. */
  readonly #inside = new AsyncLocalStorage<{ isOver: boolean }>();
  /** Ends the transaction that runs, whatever it waits for. */
  #abandon: ((reason: unknown) => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(pglite: PGlite, lock: FolderLock, waitMs: number, closeMs: number) {
    this.#pglite = pglite;
    this.#lock = lock;
    this.#waitMs = waitMs;
    this.#closeMs = closeMs;
  }

  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    return this.#takeTurn(() => run<Row>(this.#pglite, sql, values));
  }

  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    return this.#takeTurn(() => this.#transact(work));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #takeTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#inside.getStore()?.isOver === false) {
      const message =
        'The ledger was asked itself from within one of its transactions, which it waits for: use tx there.';
      throw new IntentError('internal_error', message);
    }
    this.#requireOpen();
    return this.#turns.take(this.#waitMs, () => {
      this.#requireOpen();
      return work();
    });
  }

  async #transact<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    const inside = { isOver: false };
    let thrown: unknown;
    try {
      return await this.#pglite.transaction(async (tx) => {
        try {
          return await this.#inside.run(inside, () => this.#hold(tx, work));
        } catch (error) {
          thrown = error;
          throw error;
        }
      });
    } catch (error) {
      throw error === thrown ? error : explainFault(error);
    } finally {
      inside.isOver = true;
    }
  }

  async #hold<Value>(tx: Transaction, work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value> {
    const scope = new TransactionScope((sql, values) => run(tx, sql, values), tx);
    const abandoned = new Promise<never>((_resolve, reject) => {
      this.#abandon = reject;
    });
    const value = await scope.hold((held) => Promise.race([work(held), abandoned]));
    // Once a statement has failed, nothing more is taken, and older versions commit that without a word.
    return tx.query('select').then(
      () => value,
      () => {
        throw rolledBack(scope.firstFault);
      },
    );
  }

  async #close(): Promise<void> {
    const abandon = (): void => this.#abandon?.(unreachable('The ledger was closed while a transaction was open'));
    const timer = setTimeout(abandon, this.#closeMs).unref();
    try {
      await this.#turns.take(this.#closeMs + 5_000, () => this.#pglite.close());
    } finally {
      clearTimeout(timer);
    }
    // Not where closing has failed: then the folder is still open, until the process ends.
    await this.#lock.release();
  }

  #requireOpen(): void {
    if (this.#closing) throw unreachable('The ledger is closed');
  }
}

async function run<Row extends object>(
  on: PGlite | Transaction,
  sql: string,
  values?: readonly unknown[],
): Promise<QueryResult<Row>> {
  try {
    const result = values ? await on.query<Row>(sql, [...values]) : (await on.exec(sql)).at(-1);
    const { rows = [], affectedRows = 0 } = result ?? {};
    return { rows: rows as Row[], rowCount: rows.length || affectedRows };
  } catch (error) {
    throw explainFault(error);
  }
}
