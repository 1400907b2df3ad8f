import type { Database } from '../../ledger/database.js';
import { openPostgres } from '../../ledger/postgres.js';
import { placeOf } from '../open-ledger.js';
import type { Check, DoctorContext } from './check.js';
import { lookAtClock } from './clock-skew.js';
import { explainDatabase } from './explain-database.js';
import { type Finding, fault, ok, skipped, warning } from './finding.js';
import { lookAtTables } from './tables.js';

/** The ledger in Postgres: reachable, writable, migrated, with room for the site's connections. It only reads. */
export const database: Check = async (context) => {
  const { settings, world, env } = context;
  const { database: place } = settings;
  if (place?.kind !== 'postgres') return [skipped(whyNot(env.INTENT_DATABASE_URL, place?.kind))];
  if (world.versionOf('pg') === undefined) return [skipped('its package is missing')];
  const bounds = { connectMs: world.checkMs - 500, statementMs: world.checkMs - 1_000, closeMs: 500 };
  const db = await openPostgres({ url: place.url, ...bounds });
  try {
    return await lookAt(db, context);
  } catch (error) {
    const { why, mend } = explainDatabase(error);
    return [fault(`${placeOf({ database: place })} cannot be used: ${why}.`, mend)];
  } finally {
    void db.close();
  }
};

function whyNot(url: string | undefined, kind: string | undefined): string {
  if (!url) return 'there is no ledger: nothing is watched, and onPaid is not called';
  return kind === 'embedded' ? 'the ledger is in a folder' : 'there is no right INTENT_DATABASE_URL';
}

interface ServerRow {
  readonly version: string;
  readonly version_num: number;
  readonly is_read_only: boolean;
  readonly now_ms: number;
  readonly allowed: number;
  readonly used: number;
}

/** What a role or a database may have at most is -1 where it has no limit of its own. */
const aboutServer = `
select current_setting('server_version') as version,
  current_setting('server_version_num')::int as version_num,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as is_read_only,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
  least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
  ) as allowed,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;

/** Each process of the site opens up to so many. */
const poolSize = 10;
/** The oldest that the Postgres project maintains. */
const oldestMaintained = 140_000;

async function lookAt(db: Database, context: DoctorContext): Promise<Finding[]> {
  // The first query makes the connection, which takes longer than the clock should be off.
  await db.query('select');
  const askedAtMs = context.world.now();
  const { rows } = await db.query<ServerRow>(aboutServer);
  const tookMs = context.world.now() - askedAtMs;
  const [server] = rows;
  if (!server) throw new Error('The database gives no row.');
  const found = [
    ...lookAtServer(server),
    ...(await lookAtTables(db)),
    ...lookAtClock('the database', server.now_ms, { askedAtMs, tookMs, resolutionMs: 1 }),
  ];
  if (found.length > 0) return found;
  const { version, used, allowed } = server;
  return [ok(`Postgres ${version.split(' ')[0]}, migrated, ${used} of ${allowed} connections taken`)];
}

function lookAtServer({ version, version_num, is_read_only, allowed, used }: ServerRow): Finding[] {
  const found: Finding[] = [];
  if (is_read_only) {
    const mend = 'Let INTENT_DATABASE_URL name the primary, and not a replica that can only be read.';
    found.push(fault('The database takes no writes.', mend));
  }
  if (version_num < oldestMaintained) {
    found.push(warning(`Postgres ${version} is not maintained any more.`, 'Upgrade it to Postgres 14 or newer.'));
  }
  if (allowed < poolSize) {
    found.push(
      warning(
        `The database allows ${allowed} connections, and each process of the site opens up to ${poolSize}.`,
        `Raise what limits them to ${poolSize} for each process and some more: max_connections, or the limit of the role or ` +
          'the database (alter role ... connection limit).',
      ),
    );
  } else if (used > allowed * 0.9) {
    const mend = 'End what keeps connections open, raise max_connections, or put pgbouncer in between.';
    found.push(warning(`${used} of ${allowed} connections of the database are taken.`, mend));
  }
  return found;
}
