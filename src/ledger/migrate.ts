import { IntentError } from '../errors.js';
import type { Database, Queryable } from './database.js';
import { intentsMigration } from './migrations/001-intents.js';
import { finishedMigration } from './migrations/002-finished.js';

/** One change of the tables; a migration that was published never changes. */
export interface Migration {
  /** 1, 2, 3, ... without a gap. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  { version: 1, name: 'intents', sql: intentsMigration },
  { version: 2, name: 'finished', sql: finishedMigration },
];

/** Any number that no other program is likely to lock with. */
const advisoryLock = 7_233_014_858;

/** Where an administrator has made the schema, no right to make one is needed: asking for one `if not exists` would need it. */
const schemaIsThere = `select from pg_catalog.pg_namespace where nspname = 'express_intents'`;

const migrationsTable = `
create table if not exists express_intents.migrations (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * Brings the tables to what this program needs, each migration in a transaction of its own, and gives those that it has
 * run. Several processes may do so at once: each migration is run by one of them. Tables that are newer than this program
 * stay as they are, so that an old and a new version of a site can run side by side.
 * @throws {IntentError} `ledger_unavailable`; `invalid_configuration` where the role may not do this, with what it needs
 */
export async function migrate(
  database: Database,
  list: readonly Migration[] = migrations,
): Promise<readonly Migration[]> {
  const ran: Migration[] = [];
  for (const migration of await missingOf(database, list)) {
    const isRun = await database
      .transaction((tx) => apply(tx, migration))
      .catch((error) => {
        throw explained(error);
      });
    if (isRun) ran.push(migration);
  }
  return ran;
}

/** Whether nothing is missing. @throws {IntentError} `ledger_unavailable` */
export async function isMigrated(database: Database, list: readonly Migration[] = migrations): Promise<boolean> {
  return (await missingOf(database, list)).length === 0;
}

/** Lets pass where nothing is missing. @throws {IntentError} `invalid_configuration` with the command that mends it */
export async function requireMigrated(database: Database): Promise<void> {
  if (await isMigrated(database)) return;
  const message = 'The tables of the ledger are missing or older than this program. Run `npx express-intents migrate`.';
  throw new IntentError('invalid_configuration', message);
}

async function missingOf(database: Queryable, list: readonly Migration[]): Promise<readonly Migration[]> {
  const applied = await appliedVersions(database);
  return list.filter(({ version }) => !applied.has(version));
}

/** One query where the tables are there, and no other where they are not. */
async function appliedVersions(database: Queryable): Promise<ReadonlySet<number>> {
  try {
    const { rows } = await database.query<{ version: string }>(
      'select version::text as version from express_intents.migrations',
    );
    return new Set(rows.map(({ version }) => Number(version)));
  } catch (error) {
    if (codeOf(error) === '42P01') return new Set();
    throw explained(error);
  }
}

/** False where another process has run it meanwhile. */
async function apply(tx: Queryable, { version, name, sql }: Migration): Promise<boolean> {
  await tx.query('select pg_advisory_xact_lock($1)', [advisoryLock]);
  if ((await tx.query(schemaIsThere)).rowCount === 0) await tx.query('create schema express_intents');
  await tx.query(migrationsTable);
  const { rowCount } = await tx.query('select from express_intents.migrations where version = $1', [version]);
  if (rowCount > 0) return false;
  await tx.query(sql);
  await tx.query('insert into express_intents.migrations (version, name) values ($1, $2)', [version, name]);
  return true;
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** SQLSTATE 42501: the role may not do this. */
function explained(error: unknown): unknown {
  if (codeOf(error) !== '42501') return error;
  return new IntentError(
    'invalid_configuration',
    `The role of INTENT_DATABASE_URL may not do this: ${(error as Error).message}. ${grants}`,
    {
      cause: error,
    },
  );
}

const grants = `\
Let an administrator run \`create schema express_intents authorization <role>\`, so that the tables are the role's own. Or \
run \`npx express-intents migrate\` as another role, and then as that one \`grant usage on schema express_intents to <role>\` \
and \`grant select, insert, update, delete on all tables in schema express_intents to <role>\`.`;
