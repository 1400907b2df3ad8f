import { IntentError } from '../errors.js';
import { buildIndexes, createIndex } from './build-indexes.js';
import type { Database, Queryable } from './database.js';
import { sqlStateOf } from './database-fault.js';
import { explainMigrationFault } from './migration-fault.js';
import { type Migration, migrations } from './migrations.js';
import { missingMigrations } from './missing-migrations.js';

/** Any number that no other program is likely to lock with. */
const advisoryLock = 7_233_014_858;

/** Where an administrator has made the schema, no right to make one is needed: asking for one `if not exists` would need it. */
const schemaIsThere = `select from pg_catalog.pg_namespace where nspname = 'express_intents'`;

/** Not `migrations`: other tools look for a table of that name in any schema, and take this one for their own. */
const versionsTable = `
alter table if exists express_intents.migrations rename to schema_versions;
create table if not exists express_intents.schema_versions (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * Whoever comes after one that waits to change a table waits behind it, even to read a row. So it gives up after this, in
 * milliseconds, and tries again once they have been let through. Not sooner than after `deadlock_timeout`, one second:
 * by then Postgres ends an autovacuum that stands in the way.
 */
const lockMs = 2_000;
const pauseMs = 1_000;
const tries = 5;

export interface MigrateOptions {
  /** Default: those of this version. */
  readonly list?: readonly Migration[];
  /** Told of each index before it is built, which may take its time. */
  readonly tell?: (index: string) => void;
}

/**
 * Brings the tables and indexes to what this program needs, and gives the migrations that it has run. Several processes may
 * do so at once: each migration is run by one of them. Tables that are newer than this program stay as they are, so that an
 * old and a new version of a site can run side by side.
 * @throws {IntentError} `ledger_unavailable`; `invalid_configuration` where the role may not do this, with what it needs
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<readonly Migration[]> {
  const { list = migrations, tell } = options;
  const ran = [...(await migrateTables(db, list)), ...(await buildIndexes(db, { list, tell }))];
  return ran.toSorted((one, other) => one.version - other.version);
}

/**
 * As `migrate`, without what can be done while the site runs: where others have the database as well, indexes are built
 * beside their work, by `buildIndexes`.
 * @throws as `migrate`
 */
export async function migrateTables(db: Database, list = migrations): Promise<readonly Migration[]> {
  const ran: Migration[] = [];
  for (const migration of await missingMigrations(db, list)) {
    if (migration.index && db.runLong) continue;
    const isRun = await withLocks(() => db.transaction((tx) => apply(tx, migration))).catch((error) => {
      throw explainMigrationFault(error);
    });
    if (isRun) ran.push(migration);
  }
  return ran;
}

/** Whether no table is missing, nor anything in it. @throws {IntentError} `ledger_unavailable` */
export async function isMigrated(db: Queryable, list = migrations): Promise<boolean> {
  return (await missingMigrations(db, list)).every(({ index }) => index);
}

/** Lets pass where no table is missing. @throws {IntentError} `invalid_configuration` with the command that mends it */
export async function requireMigrated(db: Queryable): Promise<void> {
  if (await isMigrated(db)) return;
  const message = 'The tables of the ledger are missing or older than this program. Run `npx express-intents migrate`.';
  throw new IntentError('invalid_configuration', message);
}

async function withLocks<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== '55P03' || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }
}

/** A transaction takes one statement at a time, and a migration has several. */
const asOneStatement = (sql: string): string =>
  `do $migration$ begin execute $statements$${sql}$statements$; end $migration$`;

/** False where another process has run it meanwhile. */
async function apply(tx: Queryable, migration: Migration): Promise<boolean> {
  const { version, name } = migration;
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLock]);
  await tx.query(`set local lock_timeout = ${lockMs}`);
  if ((await tx.query(schemaIsThere)).rowCount === 0) await tx.query('create schema express_intents');
  await tx.query(asOneStatement(versionsTable));
  if ((await missingMigrations(tx, [migration])).length === 0) return false;
  if (migration.index) {
    await tx.query(createIndex(migration.index));
    return true;
  }
  await tx.query(asOneStatement(migration.sql));
  await tx.query('insert into express_intents.schema_versions (version, name) values ($1, $2)', [version, name]);
  return true;
}
