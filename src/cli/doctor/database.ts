import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../../errors.js';
import type { Database } from '../../ledger/database/database.js';
import { isFolderLocked } from '../../ledger/database/embedded/folder-lock.js';
import { requireDatabasePackage } from '../../ledger/database/open-database.js';
import { openPostgres } from '../../ledger/database/postgres/postgres.js';
import { migrations, missingMigrations } from '../../ledger/migrations/migrate.js';
import { placeOf } from '../open-ledger.js';
import { type Check, type Finding, fault, ok, skipped, warning } from './check.js';
import { explainDatabase } from './explain.js';

const noLedger = 'there is no ledger: nothing is watched, and onPaid is not called';

/** The ledger: a database that is reachable, writable and migrated, or a folder that is free. It only reads. */
export const database: Check = async ({ settings, world, env, siteUrl }) => {
  const { database: place } = settings;
  if (!place) return [skipped(env.INTENT_DATABASE_URL ? 'there is no right INTENT_DATABASE_URL' : noLedger)];
  try {
    requireDatabasePackage(place);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ setting, problem, mend }) => fault(`${setting}: ${problem}`, mend));
  }
  if (place.kind === 'embedded') return lookAtFolder(path.resolve(place.folder), siteUrl !== undefined);
  const bounds = { connectMs: world.checkMs - 500, statementMs: world.checkMs - 1_000, closeMs: 500 };
  const db = await openPostgres({ url: place.url, ...bounds });
  try {
    return await lookAtServer(db);
  } catch (error) {
    const { why, mend } = explainDatabase(error);
    return [fault(`${placeOf({ database: place })} cannot be used: ${why}.`, mend)];
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

const aboutServer = `
select current_setting('server_version') as version, current_user as role,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as is_read_only,
  to_regclass('express_intents.schema_versions') is not null as has_tables,
  case when schema is null then has_database_privilege(current_database(), 'create')
    else has_schema_privilege(schema, 'create') end as may_migrate
from (select (select oid from pg_namespace where nspname = 'express_intents') as schema) as it`;

async function lookAtServer(db: Database): Promise<Finding[]> {
  const { rows } = await db.query<ServerRow>(aboutServer);
  const [server] = rows;
  if (!server) throw new Error('The database gives no row.');
  const found = await lookAtMigrations(db, server);
  if (server.is_read_only) {
    const mend = 'Let INTENT_DATABASE_URL name the primary, and not a replica that can only be read.';
    found.unshift(fault('The database takes no writes.', mend));
  }
  return found.length > 0 ? found : [ok(`Postgres ${server.version.split(' ')[0]}, migrated`)];
}

async function lookAtMigrations(db: Database, { role, has_tables, may_migrate }: ServerRow): Promise<Finding[]> {
  const found: Finding[] = [];
  if ((await missingMigrations(db, migrations)).length > 0) {
    const what = has_tables ? 'The tables of the ledger are older than this version' : 'The ledger has no tables yet';
    const migrate = 'Run `npx express-intents migrate`';
    found.push(
      may_migrate
        ? warning(`${what}.`, `${migrate}, or let the site do it at its start.`)
        : fault(`${what}, and the role ${role} may not make them.`, `${migrate} as a role that may.`),
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
  const message = `The tables of the ledger are of a newer version (${newer}) than this one, which knows ${newest}.`;
  return [...found, warning(message, 'npm install express-intents@latest, as where the newer version runs')];
}

/** It is not opened, which would write to it. */
async function lookAtFolder(folder: string, isSiteNamed: boolean): Promise<Finding[]> {
  const nearest = nearestExisting(folder);
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return [fault(`This user may not write to ${nearest}.`, `chown -R <the user of the site> ${nearest}`)];
  const isLocked = nearest === folder && (await isFolderLocked(folder));
  if (isLocked && !isSiteNamed) {
    const mend = 'Where that is the site, all is well; name it with --url. To start another, end it first.';
    return [warning(`${folder} is open in another process, and one alone can have it open.`, mend)];
  }
  const isThere = existsSync(path.join(folder, 'data'));
  return [ok(isThere ? `${folder}${isLocked ? ', open in the site' : ''}` : `${folder} will be made`)];
}

/** The folder itself, or that in which it would be made. */
function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder));
}
