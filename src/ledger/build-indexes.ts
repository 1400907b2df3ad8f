import { setTimeout as wait } from 'node:timers/promises';
import { bounded } from './bounded.js';
import type { Database, Queryable } from './database.js';
import { sqlStateOf } from './database-fault.js';
import { explainMigrationFault } from './migration-fault.js';
import { type Migration, type MigrationIndex, migrations } from './migrations.js';
import { missingMigrations } from './missing-migrations.js';

/** Any number that no other program is likely to lock with. */
const advisoryLock = 7_233_014_859;

/** From one look at what somebody else builds to the next, in milliseconds: doubled each time up to the second. */
const lookMs = { first: 500, longest: 30_000 } as const;

export interface BuildOptions {
  /** Default: those of this version. */
  readonly list?: readonly Migration[];
  /**
   * Aborted when it is not to be waited for any more; the database goes on with what it has begun. Whoever gives one has
   * other things to live for: the process is not kept alive by waiting.
   */
  readonly signal?: AbortSignal;
  /** Told of each index before it is built. */
  readonly tell?: ((index: string) => void) | undefined;
}

type IndexMigration = Migration & { readonly index: MigrationIndex };

/**
 * Builds the indexes that are missing, one after the other, while everybody goes on reading and writing. Of several
 * processes one builds and the others wait. Resolves once all are there, whoever has built them.
 *
 * Postgres can do this in no transaction, so that one that is broken off leaves half an index behind. It is dropped by
 * whoever comes next.
 * @returns those that it has built; none where one process alone has the database, since `migrateTables` has done it there
 * @throws {IntentError} as `migrate` @throws the signal's reason
 */
export async function buildIndexes(db: Database, options: BuildOptions = {}): Promise<readonly Migration[]> {
  const { list = migrations, signal = new AbortController().signal, tell } = options;
  const ref = options.signal === undefined;
  const built: Migration[] = [];
  for (let waitMs: number = lookMs.first; db.runLong; ) {
    const [next] = (await missingMigrations(db, list)).filter((migration) => migration.index !== undefined);
    if (!next) break;
    tell?.(next.index.name);
    if (await buildAlone(db, next, signal)) {
      built.push(next);
    } else {
      await wait(waitMs * (0.5 + Math.random()), undefined, { signal, ref });
      waitMs = Math.min(waitMs * 2, lookMs.longest);
    }
  }
  return built;
}

/** Not `concurrently`: for where nobody else is held up by it. */
export const createIndex = ({ name, on }: MigrationIndex): string => `create index if not exists ${name} on ${on}`;

const createConcurrently = ({ name, on }: MigrationIndex): string =>
  `create index concurrently if not exists ${name} on ${on}`;

/**
 * False where it is somebody else's turn.
 *
 * The lock is one of a transaction beside, since a lock of a session holds nothing behind a pooler that gives connections
 * for a transaction. Building waits for all who look at the past, so that transaction must not be one of them.
 */
async function buildAlone(db: Database, migration: IndexMigration, signal: AbortSignal): Promise<boolean> {
  return db
    .transaction(async (tx) => {
      await tx.query('set transaction isolation level read committed');
      const lock = await tx.query('select where pg_try_advisory_xact_lock($1)', [advisoryLock]);
      if (lock.rowCount === 0 || (await missingMigrations(tx, [migration])).length === 0) return false;
      // The last statement keeps what it has read open until the next one; this one reads nothing.
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      if (!(await dropWhatIsBroken(db, migration.index))) return false;
      await bounded(signal, () => db.runLong?.(createConcurrently(migration.index), signal));
      return true;
    })
    .catch((error) => {
      throw explainMigrationFault(error);
    });
}

/** An index that was not finished, or is just being built by a process that has died since: then it is left alone. */
async function dropWhatIsBroken(db: Database, { name }: MigrationIndex): Promise<boolean> {
  const drop = async (tx: Queryable): Promise<void> => {
    const { rowCount } = await tx.query(
      `select from pg_catalog.pg_index where indexrelid = to_regclass($1) and not indisvalid`,
      [`express_intents.${name}`],
    );
    if (rowCount === 0) return;
    // Shorter than `deadlock_timeout`: a builder waits for us as well, and must not be the one that is ended for it.
    await tx.query('set local lock_timeout = 200');
    await tx.query(`drop index express_intents.${name}`);
  };
  try {
    await db.transaction(drop);
    return true;
  } catch (error) {
    if (sqlStateOf(error) === '55P03') return false;
    throw error;
  }
}
