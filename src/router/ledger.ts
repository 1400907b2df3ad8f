import { type Config, howToGetLedger } from '../config/config.js';
import { IntentError } from '../errors.js';
import type { EventHub } from '../http/events/event-hub.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/response/logger.js';
import { parseIntentId } from '../keys/base58.js';
import { createLedger } from '../ledger/create-ledger.js';
import type { Database } from '../ledger/database/database.js';
import { openDatabase, requireDatabasePackage } from '../ledger/database/open-database.js';
import type { IntentRecords, Ledger, SiteDatabase } from '../ledger/ledger.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { migrate, requireMigrated } from '../ledger/migrations/migrate.js';
import type { SettlementTiming } from '../ledger/settlement/settlement-timing.js';
import type { IntentClient } from '../sequencer/intent-client.js';
import type { Observer } from '../telemetry/router-event.js';

/** What of a router its ledger needs. */
export interface LedgerParts {
  readonly config: Config;
  readonly hooks: Hooks;
  readonly client: IntentClient;
  readonly events: EventHub;
  readonly logger: Logger;
  readonly observer: Observer | undefined;
}

/**
 * Makes the ledger of a router; undefined where no database is configured.
 * @param timing how often it looks, for tests
 * @throws {ConfigError} where its package is missing
 */
export function routerLedger(
  { config, hooks, client, events, logger, observer }: LedgerParts,
  timing?: Partial<SettlementTiming>,
): Ledger | undefined {
  const { ledger: settings, login } = config;
  if (!settings) return undefined;
  requireDatabasePackage(settings.database);
  return createLedger({
    open: () => openMigrated(settings),
    ...{ settings, hooks, logger, timing, observer },
    onSubmitted: (id) => events.hint(id),
    // With the tabs that look at the same intent, which so learn of it at once; the ledger itself needs no hint of its own.
    askStatus: (id, { signal }) => events.look(id, { signal, isQuiet: true }),
    askUserId:
      login &&
      (async (intent, { signal }) => {
        const { userId } = await client.loginIntents.getUserId({ intent, verifier: login.keyRing.signer }, { signal });
        return userId;
      }),
  });
}

async function openMigrated(settings: LedgerSettings): Promise<Database> {
  const db = await openDatabase(settings);
  try {
    await (settings.migrate ? migrate(db) : requireMigrated(db));
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * What a site may ask of its ledger. Apps pass on ids that visitors have typed: what is not the form of an id names no
 * intent, and never reaches the database.
 */
export function recordsOf(ledger: Ledger | undefined): IntentRecords {
  if (!ledger) return noRecords;
  const { find, list, history, retry, prune, nudge } = ledger;
  return Object.freeze<IntentRecords>({
    find: async (id) => (isIntentId(id) ? find(id) : undefined),
    list,
    history: async (id) => (isIntentId(id) ? history(id) : []),
    retry: async (id) => isIntentId(id) && retry(id),
    prune,
    look: async (id) => {
      if (isIntentId(id)) await nudge(id);
    },
  });
}

function isIntentId(id: string): boolean {
  try {
    parseIntentId(id);
    return true;
  } catch {
    return false;
  }
}

/** Where a site may keep tables of its own. */
export function databaseOf(ledger: Ledger | undefined): SiteDatabase {
  return ledger?.database ?? noDatabase;
}

async function noLedger(): Promise<never> {
  throw new IntentError('invalid_configuration', `There is no ledger to ask. Set ${howToGetLedger()}.`);
}

const noRecords: IntentRecords = Object.freeze({
  find: noLedger,
  list: noLedger,
  history: noLedger,
  retry: noLedger,
  prune: noLedger,
  look: noLedger,
});
const noDatabase: SiteDatabase = Object.freeze({ query: noLedger, transaction: noLedger });
