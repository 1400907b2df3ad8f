import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import { sqlStateOf } from '../database/database-fault.js';
import { intentsMigration } from './001-intents.js';

/**
 * One change of the tables. A published migration never changes, and the previous version of this program works with the changed
 * tables: CONTRIBUTING.md has the rules.
 */
export interface Migration {
  /** 1, 2, 3, ... without a gap. */
  readonly version: number;
  readonly name: string;
  /** Runs in a transaction before a site starts, and must be quick for any number of rows. */
  readonly sql: string;
}

export const migrations: readonly Migration[] = [{ version: 1, name: 'intents', sql: intentsMigration }];

/** A number that other programs are unlikely to lock with. */
const advisoryLock = 7_233_014_858;

/** Where the schema exists, the role needs no right to create one. `create schema if not exists` would need it. */
const schemaIsThere = `select from pg_catalog.pg_namespace where nspname = 'express_intents'`;

/** Not named `migrations`: other tools search any schema for a table of that name and use it as their own. */
const versionsTable = `
create table if not exists express_intents.schema_versions (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * While a migration waits for the lock of a table, every later statement on that table waits behind it. So the migration stops
 * waiting after `lockMs`, lets the others pass and retries. `lockMs` is longer than `deadlock_timeout`, one second, after which
 * Postgres cancels an autovacuum that holds the lock.
 */
const lockMs = 2_000;
const retryMs = 1_000;
const maxAttempts = 5;

/**
 * Runs the missing migrations and returns them. Several processes may do so at once: each migration is run by one of them. Newer
 * tables stay as they are, so an old and a new version of a site can run side by side.
 * @throws {IntentError} `ledger_unavailable`; `invalid_configuration` where the role lacks a right, with the fix
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

/** The migrations that were not run in this database, by one query. @throws {IntentError} as `migrate` */
export async function missingMigrations(db: Queryable, list = migrations): Promise<readonly Migration[]> {
  try {
    const { rows } = await db.query<{ version: number }>(
      'select version::int as version from express_intents.schema_versions',
    );
    const applied = new Set(rows.map(({ version }) => version));
    return list.filter(({ version }) => !applied.has(version));
  } catch (error) {
    // The table does not exist.
    if (sqlStateOf(error) === '42P01') return list;
    throw explainMigration(error);
  }
}

/** @throws {IntentError} `invalid_configuration` where a migration is missing, with the command that runs it */
export async function requireMigrated(db: Queryable): Promise<void> {
  if ((await missingMigrations(db)).length === 0) return;
  const message = 'The tables of the ledger are missing or older than this version. Run `npx express-intents migrate`.';
  throw new IntentError('invalid_configuration', message);
}

async function retryOnLock<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== '55P03' || attempt === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs * (0.5 + Math.random())));
    }
  }
}

/** `tx` takes one statement in each text, and a migration has several. */
const asOneStatement = (sql: string): string =>
  `do $migration$ begin execute $statements$${sql}$statements$; end $migration$`;

/** False where another process has run it in the meantime. */
async function apply(tx: Queryable, migration: Migration): Promise<boolean> {
  const { version, name } = migration;
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLock]);
  await tx.query(`set local lock_timeout = ${lockMs}`);
  if ((await tx.query(schemaIsThere)).rowCount === 0) await tx.query('create schema express_intents');
  await tx.query(versionsTable);
  if ((await missingMigrations(tx, [migration])).length === 0) return false;
  await tx.query(asOneStatement(migration.sql));
  await tx.query('insert into express_intents.schema_versions (version, name) values ($1, $2)', [version, name]);
  return true;
}

/** A missing right and a lock that is not released get their fix; any other error stays as it is. */
function explainMigration(error: unknown): unknown {
  const { message } = error as Error;
  switch (sqlStateOf(error)) {
    case '42501':
      return new IntentError(
        'invalid_configuration',
        `The role of INTENT_DATABASE_URL lacks a right: ${message}. ${grants}`,
        { cause: error },
      );
    case '55P03':
      return new IntentError('ledger_unavailable', inUse, { cause: error });
    default:
      return error;
  }
}

const grants = `\
Let an administrator run \`create schema express_intents authorization <role>\`, so that the tables are the role's own. Or \
run \`npx express-intents migrate\` as another role, and then as that one \`grant usage on schema express_intents to <role>\` \
and \`grant select, insert, update, delete on all tables in schema express_intents to <role>\`.`;

const inUse = `\
The tables of the ledger cannot be changed, because a transaction that does not end uses them. \
\`select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '1 second' order by xact_start\` \
shows which; \`select pg_terminate_backend(<pid>)\` ends it.`;
