import type { Database } from '../../ledger/database.js';
import { type Migration, migrations } from '../../ledger/migrations.js';
import { missingMigrations } from '../../ledger/missing-migrations.js';
import { type Finding, fault, warning } from './finding.js';

interface RightsRow {
  readonly role: string;
  readonly has_schema: boolean;
  readonly has_tables: boolean;
  readonly may_make_schema: boolean;
  readonly may_use: boolean;
  readonly may_create: boolean;
}

const aboutRights = `
select current_user as role,
  schema is not null as has_schema,
  to_regclass('express_intents.schema_versions') is not null as has_tables,
  has_database_privilege(current_database(), 'create') as may_make_schema,
  coalesce(has_schema_privilege(schema, 'usage'), false) as may_use,
  coalesce(has_schema_privilege(schema, 'create'), false) as may_create
from (select (select oid from pg_namespace where nspname = 'express_intents') as schema) as it`;

/** Tables that lack one of the rights which a site needs. */
const lackingRights = `
select relname as name from pg_class
where relnamespace = 'express_intents'::regnamespace and relkind = 'r'
  and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
    and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
order by relname`;

/** The tables of the ledger: whether they are what this version needs, and whether the role of the site may work in them. */
export async function lookAtTables(db: Database): Promise<Finding[]> {
  const { rows } = await db.query<RightsRow>(aboutRights);
  const [rights] = rows;
  if (!rights) throw new Error('The database gives no row.');
  if (rights.has_schema && !rights.may_use)
    return [fault(mayNot(rights, 'use the schema of the ledger'), grants(rights))];
  const applied = rights.has_tables ? await appliedVersions(db) : [];
  const missing = await missingMigrations(db, migrations);
  const found = [...lookAtMissing(missing, rights), ...lookAtNewer(applied), ...lookAtIndexes(missing)];
  if (rights.has_schema) {
    const lacking = (await db.query<{ name: string }>(lackingRights)).rows.map(({ name }) => name);
    if (lacking.length > 0) found.push(fault(mayNot(rights, `write to ${lacking.join(', ')}`), grants(rights)));
  }
  return found;
}

async function appliedVersions(db: Database): Promise<readonly number[]> {
  const { rows } = await db.query<{ version: number }>(
    'select version::int as version from express_intents.schema_versions',
  );
  return rows.map(({ version }) => version);
}

function lookAtMissing(missing: readonly Migration[], rights: RightsRow): Finding[] {
  if (missing.every(({ index }) => index)) return [];
  const what = rights.has_tables
    ? 'The tables of the ledger are older than this version'
    : 'The ledger has no tables yet';
  const mayMigrate = rights.has_schema ? rights.may_create : rights.may_make_schema;
  const migrate = 'Run `npx express-intents migrate`';
  if (mayMigrate) return [warning(`${what}.`, `${migrate}, or let the site do it at its start.`)];
  const message = `${what}, and the role ${rights.role} may not make them.`;
  return [fault(message, `${migrate} as a role that may. ${grants(rights)}`)];
}

function lookAtNewer(applied: readonly number[]): Finding[] {
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  const newer = applied.filter((version) => version > newest);
  if (newer.length === 0) return [];
  const message = `The tables of the ledger are of a newer version (${newer.join(', ')}) than this one, which knows ${newest}.`;
  return [warning(message, 'npm install express-intents@latest, as where the newer version runs')];
}

/** Tables that are missing lack their indexes as well, which need not be said. */
function lookAtIndexes(missing: readonly Migration[]): Finding[] {
  if (!missing.every(({ index }) => index)) return [];
  const names = missing.map(({ index }) => index?.name).join(', ');
  if (names === '') return [];
  const message = `An index of the ledger is missing or just being built, and what it makes fast is slow: ${names}.`;
  return [warning(message, 'Run `npx express-intents migrate`, or let the site build it while it runs.')];
}

const mayNot = ({ role }: RightsRow, what: string): string => `The role ${role} may not ${what}.`;

const grants = ({ role }: RightsRow): string =>
  `Let an administrator run: grant usage on schema express_intents to ${role}; ` +
  `grant select, insert, update, delete on all tables in schema express_intents to ${role};`;
