import { requirePackage } from '../../async/optional-package.js';
import { maxTimerMs } from '../../async/timeout.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { Database } from './database.js';

/** Checks that the package of this database is installed. Does not load it. @throws {ConfigError} with how to install it */
export function requireDatabasePackage({ kind }: LedgerSettings['database']): void {
  requirePackage(kind === 'postgres' ? 'pg' : '@electric-sql/pglite');
}

/** Opens the database of the settings, and loads its package. @throws {IntentError} as `openPostgres` and `openEmbedded` */
export async function openDatabase(
  settings: Pick<LedgerSettings, 'database'> & Partial<Pick<LedgerSettings, 'hookTimeoutMs'>>,
): Promise<Database> {
  const { database, hookTimeoutMs = 0 } = settings;
  if (database.kind === 'embedded') {
    const { openEmbedded } = await import('./embedded/embedded.js');
    return openEmbedded({ folder: database.folder });
  }
  const { openPostgres } = await import('./postgres/postgres.js');
  // A hook may be slow between two statements. The setting has 31 bits.
  const idleInTransactionMs = Math.min(Math.max(60_000, 2 * hookTimeoutMs), maxTimerMs);
  return openPostgres({ url: database.url, idleInTransactionMs });
}
