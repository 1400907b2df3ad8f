import type { Database } from '../../ledger/database.js';
import { migrations } from '../../ledger/migrate.js';
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
  to_regclass('express_intents.migrations') is not null as has_tables,
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
  const found = [...lookAtVersions(applied, rights)];
  if (rights.has_schema) {
    const lacking = (await db.query<{ name: string }>(lackingRights)).rows.map(({ name }) => name);
    if (lacking.length > 0) found.push(fault(mayNot(rights, `write to ${lacking.join(', ')}`), grants(rights)));
  }
  return found;
}

async function appliedVersions(db: Database): Promise<readonly number[]> {
  const { rows } = await db.query<{ version: number }>(
    'select version::int as version from express_intents.migrations',
  );
  return rows.map(({ version }) => version);
}

function lookAtVersions(applied: readonly number[], rights: RightsRow): Finding[] {
  const pending = migrations.filter(({ version }) => !applied.includes(version));
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  const newer = applied.filter((version) => version > newest);
  const found: Finding[] = [];
  if (pending.length > 0) {
    const what =
      applied.length === 0 ? 'The ledger has no tables yet' : 'The tables of the ledger are older than this version';
    const mayMigrate = rights.has_schema ? rights.may_create : rights.may_make_schema;
    const migrate = 'Run `npx express-intents migrate`';
    found.push(
      mayMigrate
        ? warning(`${what}.`, `${migrate}, or let the site do it at its start.`)
        : fault(
            `${what}, and the role ${rights.role} may not make them.`,
            `${migrate} as a role that may. ${grants(rights)}`,
          ),
    );
  }
  if (newer.length > 0) {
    found.push(
      warning(
        `The tables of the ledger are of a newer version (${newer.join(', ')}) than this one, which knows ${newest}.`,
        'npm install express-intents@latest, as where the newer version runs',
      ),
    );
  }
  return found;
}

const mayNot = ({ role }: RightsRow, what: string): string => `The role ${role} may not ${what}.`;

const grants = ({ role }: RightsRow): string =>
  `Let an administrator run: grant usage on schema express_intents to ${role}; ` +
  `grant select, insert, update, delete on all tables in schema express_intents to ${role};`;
