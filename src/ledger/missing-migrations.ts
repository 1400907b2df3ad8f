import type { Queryable } from './database.js';
import { sqlStateOf } from './database-fault.js';
import { explainMigrationFault } from './migration-fault.js';
import type { Migration } from './migrations.js';

/** An index is there when the database says so: one whose building was broken off is not, and one that was dropped neither. */
const whatIsThere = `
select version::text as version from express_intents.schema_versions
union all
select c.relname::text from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
where i.indisvalid and c.relnamespace = 'express_intents'::regnamespace`;

/** Those of these migrations that the database lacks, by one query. @throws {IntentError} as `migrate` */
export async function missingMigrations(db: Queryable, list: readonly Migration[]): Promise<readonly Migration[]> {
  const there = await thereIn(db);
  return list.filter(({ version, index }) => !there.has(index?.name ?? String(version)));
}

async function thereIn(db: Queryable): Promise<ReadonlySet<string>> {
  try {
    const { rows } = await db.query<{ version: string }>(whatIsThere);
    return new Set(rows.map(({ version }) => version));
  } catch (error) {
    // There is no such table.
    if (sqlStateOf(error) === '42P01') return new Set();
    throw explainMigrationFault(error);
  }
}
