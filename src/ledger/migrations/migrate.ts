import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import { sqlStateOf } from '../database/database-fault.js';
import { type Migration, migrations } from './migrations.js';

/** Any number that no other program is likely to lock with. */
const advisoryLock = 7_233_014_858;

/** Where an administrator has made the schema, no right to make one is needed: asking for one `if not exists` would need it. */
const schemaIsThere = `select from pg_catalog.pg_namespace where nspname = 'express_intents'`;

/** Not `migrations`: other tools look for a table of that name in any schema, and take this one for their own. */
const versionsTable = `
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

/**
 * Brings the tables to what this program needs, and returns the migrations that it has run. Several processes may do so at once:
 * each migration is run by one of them. Tables that are newer than this program stay as they are, so that an old and a new
 * version of a site can run side by side.
 * @throws {IntentError} `ledger_unavailable`; `invalid_configuration` where the role may not do this, with what it needs
 */
export async function migrate(db: Database, list = migrations): Promise<readonly Migration[]> {
  const ran: Migration[] = [];
  for (const migration of await missingMigrations(db, list)) {
    const isRun = await withLocks(() => db.transaction((tx) => apply(tx, migration))).catch((error) => {
      throw explainFault(error);
    });
    if (isRun) ran.push(migration);
  }
  return ran;
}

/** Those of these migrations that the database lacks, by one query. @throws {IntentError} as `migrate` */
export async function missingMigrations(db: Queryable, list = migrations): Promise<readonly Migration[]> {
  try {
    const { rows } = await db.query<{ version: number }>(
      'select version::int as version from express_intents.schema_versions',
    );
    const applied = new Set(rows.map(({ version }) => version));
    return list.filter(({ version }) => !applied.has(version));
  } catch (error) {
    // There is no such table.
    if (sqlStateOf(error) === '42P01') return list;
    throw explainFault(error);
  }
}

/** Lets pass where no migration is missing. @throws {IntentError} `invalid_configuration` with the command that mends it */
export async function requireMigrated(db: Queryable): Promise<void> {
  if ((await missingMigrations(db)).length === 0) return;
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
  await tx.query(versionsTable);
  if ((await missingMigrations(tx, [migration])).length === 0) return false;
  await tx.query(asOneStatement(migration.sql));
  await tx.query('insert into express_intents.schema_versions (version, name) values ($1, $2)', [version, name]);
  return true;
}

/** What may be mended, with what mends it; anything else as it is. */
function explainFault(error: unknown): unknown {
  const { message } = error as Error;
  switch (sqlStateOf(error)) {
    case '42501':
      return new IntentError(
        'invalid_configuration',
        `The role of INTENT_DATABASE_URL may not do this: ${message}. ${grants}`,
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
The tables of the ledger cannot be changed, since a transaction that does not end has them in use. \
\`select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '1 second' order by xact_start\` \
shows which; \`select pg_terminate_backend(<pid>)\` ends it.`;
