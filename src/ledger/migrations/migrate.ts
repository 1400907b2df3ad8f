import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { jitteredMs } from '../../async/backoff.js';
import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import { grantsFix, sqlStateOf } from '../database/database-fault.js';
import { intentsMigration } from './001-intents.js';

/** One change of the tables. A published one is never edited. The previous version of this package must work with it. */
export interface Migration {
  /** 1, 2, 3, ... without a gap. */
  readonly version: number;
  readonly name: string;
  /** Runs in one transaction before a site starts. Must be quick for any number of rows. */
  readonly sql: string;
}

/**
 * The name of the first one names its text: until the first release it changes, and a database of an earlier build must be
 * noticed. To add one, follow "Change the tables" in CONTRIBUTING.md.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: `intents ${createHash('sha256').update(intentsMigration).digest('hex').slice(0, 8)}`,
    sql: intentsMigration,
  },
];

/** An arbitrary number, unlikely to be used by other programs. */
const advisoryLock = 7_233_014_858;

/** `create schema if not exists` needs the privilege to create a schema, even if it exists. */
const schemaExists = `select from pg_catalog.pg_namespace where nspname = 'express_intents'`;

/** Not named `migrations`: other tools search all schemas for a table of that name and use it as their own. */
const versionsTable = `
create table if not exists express_intents.schema_versions (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * While a migration waits for the lock of a table, every later statement on that table waits behind it. So the
 * migration gives up after `lockMs`, lets the others pass and retries. `lockMs` is longer than `deadlock_timeout`, one
 * second, after which Postgres cancels an autovacuum that holds the lock.
 */
const lockMs = 2_000;
const retryMs = 1_500;
const maxAttempts = 5;

/**
 * Runs the missing migrations. Several processes may call it at once: one of them runs each migration. Newer tables
 * stay as they are, so an old and a new version of this package can run side by side.
 * @returns the migrations that this call ran
 * @throws {IntentError} `ledger_unavailable`; `invalid_configuration` if the role lacks a privilege, with the fix
 */
export async function migrate(db: Database, list = migrations): Promise<readonly Migration[]> {
  const ran: Migration[] = [];
  for (const migration of await missingMigrations(db, list)) {
    const isRun = await retryOnLock(() => db.transaction((tx) => apply(tx, migration))).catch((error) => {
      throw explainMigration(error);
    });
    if (isRun) ran.push(migration);
  }
  return ran;
}

/**
 * The migrations that this database does not have yet, by one query.
 * @throws {IntentError} as `migrate`; `invalid_configuration` if another build has created the tables
 */
export async function missingMigrations(db: Queryable, list = migrations): Promise<readonly Migration[]> {
  try {
    const { rows } = await db.query<{ version: number; name: string }>(
      'select version::int as version, name from express_intents.schema_versions',
    );
    const applied = new Map(rows.map(({ version, name }) => [version, name]));
    const other = list.find(({ version, name }) => applied.has(version) && applied.get(version) !== name);
    if (other) throw createdByOtherBuild(other);
    return list.filter(({ version }) => !applied.has(version));
  } catch (error) {
    // The table does not exist.
    if (sqlStateOf(error) === '42P01') return list;
    throw explainMigration(error);
  }
}

const createdByOtherBuild = ({ version }: Migration): IntentError =>
  new IntentError(
    'invalid_configuration',
    `The tables of the ledger are from an unreleased build of express-intents: migration ${version} has another text. Such tables ` +
      'cannot be converted. Set INTENT_DATABASE_URL to a new database or folder. Or delete all recorded intents: with Postgres run ' +
      '`drop schema express_intents cascade`, otherwise delete the folder.',
  );

/**
 * @param envFile for the printed command: its argument `--env-file`, with a space before it
 * @throws {IntentError} `invalid_configuration` if a migration is missing, with the command that runs it
 */
export async function requireMigrated(db: Queryable, envFile = ''): Promise<void> {
  if ((await missingMigrations(db)).length === 0) return;
  const message =
    'The tables of the ledger are missing or older than this version. ' +
    `Run \`npx express-intents migrate${envFile}\`.`;
  throw new IntentError('invalid_configuration', message);
}

async function retryOnLock<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== '55P03' || attempt === maxAttempts) throw error;
      await wait(jitteredMs(retryMs, 0.5));
    }
  }
}

/** A migration has several statements, but `tx` accepts one in each text. */
const asOneStatement = (sql: string): string =>
  `do $migration$ begin execute $statements$${sql}$statements$; end $migration$`;

/** @returns false if another process has run it in the meantime */
async function apply(tx: Queryable, migration: Migration): Promise<boolean> {
  const { version, name } = migration;
  // The default of the database may hide what the previous holder of the lock committed.
  await tx.query('set transaction isolation level read committed');
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLock]);
  await tx.query(`set local lock_timeout = ${lockMs}`);
  if ((await tx.query(schemaExists)).rowCount === 0) await tx.query('create schema express_intents');
  await tx.query(versionsTable);
  if ((await missingMigrations(tx, [migration])).length === 0) return false;
  await tx.query(asOneStatement(migration.sql));
  await tx.query('insert into express_intents.schema_versions (version, name) values ($1, $2)', [version, name]);
  return true;
}

/** Adds the fix to a missing privilege and to a lock that is not released. Returns any other error unchanged. */
function explainMigration(error: unknown): unknown {
  const { message } = error as Error;
  switch (sqlStateOf(error)) {
    case '42501':
      return new IntentError(
        'invalid_configuration',
        `The role of INTENT_DATABASE_URL lacks a privilege (${message}). ${grantsFix}`,
        { cause: error },
      );
    case '55P03':
      return new IntentError('ledger_unavailable', inUse, { cause: error });
    default:
      return error;
  }
}

const inUse = `\
The ledger cannot be migrated: a long transaction has locked its tables. Find it with \
\`select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '1 second' order by xact_start\`, \
and end it with \`select pg_terminate_backend(<pid>)\`. If \`npx express-intents migrate\` failed, run it again.`;
