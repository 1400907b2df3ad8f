import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseLedgerSettings } from '../config/config.js';
import type { Environment } from '../config/config-options.js';
import { withDatabaseHost } from '../config/ledger.js';
import { IntentError } from '../errors.js';
import type { Database } from '../ledger/database/database.js';
import { openDatabase } from '../ledger/database/open-database.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { requireMigrated } from '../ledger/migrations/migrate.js';
import { type EnvironmentOptions, envFileArgument, readEnvironment } from './command.js';
import type { Terminal } from './terminal.js';

type UseLedger<Value> = (db: Database, settings: LedgerSettings) => Promise<Value>;

/** Like `withLedger`, but never creates a ledger: the path of the folder may have a typo. */
async function withExistingLedger<Value>(env: Environment, use: UseLedger<Value>): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const { database } = settings;
  if (database.kind === 'postgres' || existsSync(path.join(database.folder, 'data'))) return withLedger(env, use);
  const message = `There is no ledger in ${describeLocation(settings)}. Set INTENT_DATABASE_URL to the folder of the ledger.`;
  throw new IntentError('invalid_configuration', message);
}

/**
 * Opens the ledger of the environment, and closes it after `use`.
 * @throws {IntentError} if it cannot be opened @throws what `use` throws
 */
export async function withLedger<Value>(env: Environment, use: UseLedger<Value>): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const db = await openDatabase(settings).catch((error) => {
    throw error instanceof IntentError && error.code === 'ledger_locked' ? ledgerInUseError(settings) : error;
  });
  try {
    return await use(db, settings);
  } finally {
    await db.close();
  }
}

/** Where the ledger is, without the password in its URL. */
export function describeLocation({ database }: Pick<LedgerSettings, 'database'>): string {
  if (database.kind === 'embedded') return `the folder ${path.resolve(database.folder)}`;
  return `Postgres at ${databaseHost(database.url)}${parseDatabaseUrl(database.url).pathname}`;
}

/** The host and port of Postgres, or the folder of its socket. */
export function databaseHost(url: string): string {
  const { host, searchParams } = parseDatabaseUrl(url);
  return searchParams.get('host') ?? host;
}

const parseDatabaseUrl = (url: string): URL => new URL(withDatabaseHost(url));

function ledgerInUseError(settings: LedgerSettings): IntentError {
  return new IntentError(
    'ledger_locked',
    `Another process, probably the site, has ${describeLocation(settings)} open. Only one process can open it.\n` +
      'Stop the site, run this command, and start the site again. Or use router.intents in the site: find, list, history, retry, prune.',
  );
}

/** Opens the migrated ledger of the environment. Opening a folder or a slow database takes seconds. */
export function withMigratedLedger(
  flags: EnvironmentOptions,
  terminal: Terminal,
  use: (db: Database, settings: LedgerSettings) => Promise<number>,
): Promise<number> {
  terminal.progress('opening the ledger');
  return withExistingLedger(readEnvironment(flags), async (db, settings) => {
    terminal.progress();
    await requireMigrated(db, envFileArgument(flags));
    return use(db, settings);
  });
}
