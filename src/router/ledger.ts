import { withCallerStacks } from '../caller-stack.js';
import { type Config, ledgerFix } from '../config/config.js';
import { IntentError } from '../errors.js';
import type { EventHub } from '../http/events/event-hub.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/logger.js';
import { parseIntentId } from '../keys/base58.js';
import { createLedger } from '../ledger/create-ledger.js';
import type { Database } from '../ledger/database/database.js';
import { openDatabase, requireDatabasePackage } from '../ledger/database/open-database.js';
import type { IntentRecords, Ledger, SiteDatabase } from '../ledger/ledger.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { migrate, requireMigrated } from '../ledger/migrations/migrate.js';
import type { SettlementTiming } from '../ledger/settlement/settlement-timing.js';
import type { ObservedClient } from '../sequencer/intent-client.js';
import type { StatusCache } from '../sequencer/watch/status-cache.js';
import type { Observer } from '../telemetry/router-event.js';

export interface LedgerParts {
  readonly config: Config;
  readonly hooks: Hooks;
  readonly observed: ObservedClient;
  readonly statusCache: StatusCache;
  readonly events: EventHub;
  readonly logger: Logger;
  readonly observer: Observer | undefined;
}

/** Creates the ledger of a router; undefined without a database. @throws {ConfigError} if its package is missing */
export function routerLedger(
  { config, hooks, observed, statusCache, events, logger, observer }: LedgerParts,
  timing?: Partial<SettlementTiming>,
): Ledger | undefined {
  const { ledger: settings, login } = config;
  if (!settings) return undefined;
  requireDatabasePackage(settings.database);
  return createLedger({
    open: () => openMigrated(settings),
    settings,
    hooks,
    logger,
    timing,
    observer,
    // Only a response of the service, not the cache, changes the state of a payment.
    fetchStatus: (id, { signal }) => statusCache.get(id, { signal, bypassCache: true, source: 'ledger' }),
    fetchUserId: login && ((intent, { signal }) => observed.fetchUserId(login.keyRing.signers, intent, { signal })),
    // Any process, including this one, may have found the submission. Pages connected to this process must see it.
    onSubmitted: (id) => events.recheck(id),
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

/** `router.intents`. A malformed id, as from a visitor, is treated as unknown and never reaches the database. */
export function ledgerRecords(ledger: Ledger | undefined): IntentRecords {
  if (!ledger) return noRecords;
  const { find, list, history, retry, prune, recheck } = ledger;
  return withCallerStacks<IntentRecords>({
    find: async (id) => (isIntentId(id) ? find(id) : undefined),
    list,
    history: async (id) => (isIntentId(id) ? history(id) : []),
    retry: async (id) => isIntentId(id) && retry(id),
    prune,
    recheck: async (id) => {
      if (isIntentId(id)) await recheck(id);
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

export function ledgerDatabase(ledger: Ledger | undefined): SiteDatabase {
  return ledger?.database ?? noDatabase;
}

async function noLedger(): Promise<never> {
  throw new IntentError('invalid_configuration', `There is no ledger. Set ${ledgerFix()}.`);
}

const noRecords: IntentRecords = Object.freeze({
  find: noLedger,
  list: noLedger,
  history: noLedger,
  retry: noLedger,
  prune: noLedger,
  recheck: noLedger,
});
const noDatabase: SiteDatabase = Object.freeze({ query: noLedger, transaction: noLedger });
