import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseLedgerSettings } from '../config/config.js';
import { withDatabaseHost } from '../config/ledger.js';
import type { Environment } from '../config/variables.js';
import { IntentError } from '../errors.js';
import type { Database } from '../ledger/database/database.js';
import { openDatabase } from '../ledger/database/open-database.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { requireMigrated } from '../ledger/migrations/migrate.js';
import { type EnvironmentOptions, envFileArgument, readEnvironment } from './command.js';
import type { Terminal } from './terminal.js';

type UseLedger<Value> = (db: Database, settings: LedgerSettings) => Promise<Value>;

/** Like `withLedger`, but never creates a ledger: the path of the folder may have a typo. */
async function withExistingLedger<Value>(env: Environment, use: UseLedger<Value>, method?: string): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const { database } = settings;
  if (database.kind === 'postgres' || existsSync(path.join(database.folder, 'data')))
    return withLedger(env, use, method);
  const message = `There is no ledger in ${describeLocation(settings)}. Set INTENT_DATABASE_URL to the folder of the ledger.`;
  throw new IntentError('invalid_configuration', message);
}

/**
 * Opens the ledger of the environment, and closes it after `use`.
 * @param method the method of `router.intents` that does the same, if there is one
 * @throws {IntentError} if it cannot be opened @throws what `use` throws
 */
export async function withLedger<Value>(env: Environment, use: UseLedger<Value>, method?: string): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const db = await openDatabase(settings).catch((error) => {
    throw error instanceof IntentError && error.code === 'ledger_locked' ? ledgerInUseError(settings, method) : error;
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

function ledgerInUseError(settings: LedgerSettings, method: string | undefined): IntentError {
  const inSite = method === undefined ? '' : ` Or call router.intents.${method} in the site.`;
  return new IntentError(
    'ledger_locked',
    `Another process, probably the site, has ${describeLocation(settings)} open. Only one process can open it.\n` +
      `Stop the site, run this command, and start the site again.${inSite}`,
  );
}

/**
 * Opens the migrated ledger of the environment. Opening a folder or a slow database takes seconds.
 * @param method as for `withLedger`
 */
export function withMigratedLedger(
  flags: EnvironmentOptions,
  terminal: Terminal,
  method: string | undefined,
  use: UseLedger<number>,
): Promise<number> {
  terminal.progress('opening the ledger');
  const useMigrated: UseLedger<number> = async (db, settings) => {
    terminal.progress();
    await requireMigrated(db, envFileArgument(flags));
    return use(db, settings);
  };
  return withExistingLedger(readEnvironment(flags), useMigrated, method);
}
