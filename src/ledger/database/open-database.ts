import { requirePackage } from '../../async/optional-package.js';
import { maxTimerMs } from '../../async/timeout.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { Database } from './database.js';

/**
 * Lets pass where the package is installed that this database needs, without loading it.
 * @throws {ConfigError} with how to install it
 */
export function requireDatabasePackage({ kind }: LedgerSettings['database']): void {
  requirePackage(kind === 'postgres' ? 'pg' : '@electric-sql/pglite');
}

/**
 * Opens the database that the settings name; its package is loaded here and not before.
 * @throws {IntentError} as `openPostgres` and `openEmbedded`
 */
export async function openDatabase(
  settings: Pick<LedgerSettings, 'database'> & Partial<Pick<LedgerSettings, 'hookTimeoutMs'>>,
): Promise<Database> {
  const { database, hookTimeoutMs = 0 } = settings;
  if (database.kind === 'embedded') {
    const { openEmbedded } = await import('./embedded/embedded.js');
    return openEmbedded({ folder: database.folder });
  }
  const { openPostgres } = await import('./postgres/postgres.js');
  // A hook may take its time between two statements; of which Postgres takes no more than 31 bits.
  const idleInTransactionMs = Math.min(Math.max(60_000, 2 * hookTimeoutMs), maxTimerMs);
  return openPostgres({ url: database.url, idleInTransactionMs });
}
