import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../../ledger/database/database.js';
import { diagnoseDatabase, unreachableFix } from '../../ledger/database/database-fault.js';
import { isFolderLocked } from '../../ledger/database/embedded/folder-lock.js';
import { requireDatabasePackage } from '../../ledger/database/open-database.js';
import { openPostgres } from '../../ledger/database/postgres/postgres.js';
import { migrations, missingMigrations } from '../../ledger/migrations/migrate.js';
import { databaseHost, describeLocation } from '../open-ledger.js';
import { type Check, type Finding, failure, ok, skipped, warning } from './check.js';
import { explainNetwork } from './external-client.js';

const noLedger =
  'INTENT_DATABASE_URL is not set, so there is no ledger, and a payment is polled only while its page is open';

/** The ledger: the database is reachable, writable and migrated, or the folder is writable and not locked. Only reads. */
export const checkDatabase: Check = async ({ settings, host, env, envFile, siteUrl }) => {
  const { database } = settings;
  if (!database) return [skipped(env.INTENT_DATABASE_URL ? 'INTENT_DATABASE_URL is not valid' : noLedger)];
  requireDatabasePackage(database);
  if (database.kind === 'embedded') return checkFolder(path.resolve(database.folder), siteUrl !== undefined);
  const bounds = { connectMs: host.checkTimeoutMs - 500, statementMs: host.checkTimeoutMs - 1_000, closeMs: 500 };
  const db = await openPostgres({ url: database.url, ...bounds });
  try {
    return await checkServer(db, envFile);
  } catch (error) {
    const { why, fix } = {
      ...explainNetwork(error, databaseHost(database.url), unreachableFix),
      ...diagnoseDatabase(error),
    };
    return [failure(`${describeLocation({ database })} cannot be used: ${why}.`, fix)];
  } finally {
    void db.close();
  }
};

interface ServerRow {
  readonly version: string;
  readonly role: string;
  readonly is_read_only: boolean;
  readonly has_tables: boolean;
  readonly may_migrate: boolean;
}

const selectServer = `
select current_setting('server_version') as version, current_user as role,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as is_read_only,
  to_regclass('express_intents.schema_versions') is not null as has_tables,
  case when schema is null then has_database_privilege(current_database(), 'create')
    else has_schema_privilege(schema, 'create') end as may_migrate
from (select (select oid from pg_namespace where nspname = 'express_intents') as schema) as it`;

async function checkServer(db: Database, envFile: string): Promise<Finding[]> {
  const { rows } = await db.query<ServerRow>(selectServer);
  const [server] = rows;
  if (!server) throw new Error('The database returned no row.');
  const found = await checkMigrations(db, server, envFile);
  if (server.is_read_only) {
    const fix =
      'Set INTENT_DATABASE_URL to the primary, not to a read replica. On the primary, set default_transaction_read_only to off.';
    found.unshift(failure('The database is read-only.', fix));
  }
  return found.length > 0 ? found : [ok(`Postgres ${server.version.split(' ')[0]}, migrated`)];
}

async function checkMigrations(
  db: Database,
  { role, has_tables, may_migrate }: ServerRow,
  envFile: string,
): Promise<Finding[]> {
  const found: Finding[] = [];
  if ((await missingMigrations(db, migrations)).length > 0) {
    const what = has_tables ? 'The ledger tables are outdated' : 'The ledger has no tables yet';
    const migrate = `\`npx express-intents migrate${envFile}\``;
    found.push(
      may_migrate
        ? warning(`${what}.`, `Start the site. If it has \`ledger: { migrate: false }\`, run ${migrate}.`)
        : failure(
            `${what}. The role ${role} lacks the privilege to run migrations.`,
            `Run ${migrate} as a role that has it.`,
          ),
    );
  }
  if (!has_tables) return found;
  const newest = Math.max(0, ...migrations.map(({ version }) => version));
  const { rows } = await db.query<{ version: number }>(
    'select version::int as version from express_intents.schema_versions where version > $1',
    [newest],
  );
  if (rows.length === 0) return found;
  const newer = rows.map(({ version }) => version).join(', ');
  const message = `The ledger has migration ${newer}. The newest migration of this package is ${newest}.`;
  return [...found, warning(message, 'Upgrade the package: npm install express-intents@latest')];
}

/** Does not open the ledger, because opening writes to it. */
async function checkFolder(folder: string, isSiteGiven: boolean): Promise<Finding[]> {
  const nearest = nearestExisting(folder);
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return [
      failure(
        `The user that runs this command cannot write to ${nearest}.`,
        `Give the user of the site write access to ${nearest}, or set INTENT_DATABASE_URL to another folder.`,
      ),
    ];
  const isLocked = nearest === folder && (await isFolderLocked(folder));
  if (isLocked && !isSiteGiven) {
    const fix =
      'If that process is the site, pass its address with --url. Otherwise stop the process before the site starts.';
    return [warning(`${folder} is open in another process. Only one process can open it.`, fix)];
  }
  const exists = existsSync(path.join(folder, 'data'));
  return [
    ok(
      exists
        ? `${folder}${isLocked ? ', open in another process, probably the site' : ''}`
        : `${folder} will be created`,
    ),
  ];
}

/** The folder itself, or the one in which it would be created. */
function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder));
}
