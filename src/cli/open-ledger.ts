import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseLedgerSettings } from '../config/config.js';
import type { Environment } from '../config/config-options.js';
import { IntentError } from '../errors.js';
import type { Database } from '../ledger/database/database.js';
import { openDatabase } from '../ledger/database/open-database.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';

/** As `withLedger`, where there is one already: a name that was mistyped makes no new one. */
export async function withLedgerThatIs<Value>(
  env: Environment,
  use: (db: Database, settings: LedgerSettings) => Promise<Value>,
): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const { database } = settings;
  if (database.kind === 'postgres' || existsSync(path.join(database.folder, 'data'))) return withLedger(env, use);
  const message = `There is no ledger in ${placeOf(settings)}. INTENT_DATABASE_URL names where it is.`;
  throw new IntentError('invalid_configuration', message);
}

/**
 * Opens the ledger that the environment names, for as long as `use` needs it.
 * @throws {IntentError} why it cannot be opened @throws what `use` throws
 */
export async function withLedger<Value>(
  env: Environment,
  use: (db: Database, settings: LedgerSettings) => Promise<Value>,
): Promise<Value> {
  const settings = parseLedgerSettings(env);
  const db = await openDatabase(settings).catch((error) => {
    throw error instanceof IntentError && error.code === 'ledger_locked' ? openInSite(settings) : error;
  });
  try {
    return await use(db, settings);
  } finally {
    await db.close();
  }
}

/** Where the ledger is, without what is secret in its URL. */
export function placeOf({ database }: Pick<LedgerSettings, 'database'>): string {
  if (database.kind === 'embedded') return `the folder ${path.resolve(database.folder)}`;
  // A socket is named in the query, and then a user may come before no host at all.
  const { host, pathname, searchParams } = new URL(database.url.replace('@/', '@localhost/'));
  return `Postgres at ${searchParams.get('host') ?? host}${pathname}`;
}

function openInSite(settings: LedgerSettings): IntentError {
  return new IntentError(
    'ledger_locked',
    `The site is running and has ${placeOf(settings)} open, which one process alone can.\n` +
      'Either ask the site itself: router.intents has find, list, history and retry.\n' +
      'Or stop the site, run this again, and start it.',
  );
}
