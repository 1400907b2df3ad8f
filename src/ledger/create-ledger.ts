import type { Database } from './database/database.js';
import { Opening } from './database/database-connector.js';
import { OutageWatch } from './database/outage-watch.js';
import { canCompleteLogin, completeLoginOnce, reopenLogin } from './intents/complete-login.js';
import { findIntent, findPaymentsFor, historyOf, listIntents } from './intents/find-intents.js';
import { pruneIntents } from './intents/prune-intents.js';
import {
  confirmIntent,
  findRepeated,
  findSealedSecret,
  recordIntent,
  reserveIntent,
  retryIntent,
} from './intents/record-intent.js';
import type { Ledger, LedgerReport, SiteDatabase } from './ledger.js';
import { inspectBacklog } from './settlement/claimed-payment.js';
import { Settlement } from './settlement/settlement.js';
import type { SettlementContext } from './settlement/settlement-context.js';
import { defaultTiming, type SettlementTiming } from './settlement/settlement-timing.js';
import { Announcements } from './settlement/submission-notifier.js';

export interface LedgerOptions extends Omit<SettlementContext, 'db' | 'timing' | 'announce'> {
  /** Opens the database, migrated. */
  readonly open: () => Promise<Database>;
  /** Takes the hint that an intent was submitted, from any process that has the database. */
  readonly onAnnounced?: ((id: string) => void) | undefined;
  /** For tests, and for whoever knows better. */
  readonly timing?: Partial<SettlementTiming> | undefined;
}

/** Begins to open the database, and to settle what is in it. */
export function createLedger(options: LedgerOptions): Ledger {
  const { open, timing: given, onAnnounced = () => undefined, ...rest } = options;
  const timing = { ...defaultTiming, ...given };
  const watch = { watchFirstMs: timing.watchFirstMs, watchMs: rest.settings.watchMs };
  const { logger, observer } = rest;
  let outages: OutageWatch | undefined;
  const openWatched = async (): Promise<Database> => {
    outages = new OutageWatch(await open(), { logger, observer, onOver: () => settlement?.resume() });
    return outages;
  };
  const opening = new Opening({ open: openWatched, logger, observer });
  const withDb: WithDatabase = async (use) => use(await opening.database());
  let settlement: Settlement | undefined;
  let announcements: Announcements | undefined;
  opening.whenOpen((db) => {
    announcements = new Announcements(db, onAnnounced);
    settlement = new Settlement({ db, timing, announce: (id) => announcements?.announce(id), ...rest });
    settlement.start();
  });
  return Object.freeze<Ledger>({
    database: siteDatabase(withDb),
    ready: () => opening.ready(),
    sealedSecret: (id, browser) => withDb((db) => findSealedSecret(db, id, browser)),
    record: (intent) => withDb((db) => recordIntent(db, intent, watch)),
    repeated: (browser, key) => withDb((db) => findRepeated(db, browser, key)),
    reserve: (intent, idempotency) =>
      withDb(async (db) => {
        const isFirst = await reserveIntent(db, intent, idempotency);
        return isFirst ? undefined : findRepeated(db, intent.browser, idempotency.key);
      }),
    confirm: (id) => withDb((db) => confirmIntent(db, id, watch)),
    canCompleteLogin: (id, browser, ttlMs) => withDb((db) => canCompleteLogin(db, id, browser, ttlMs)),
    completeLogin: (login, work) => withDb((db) => completeLoginOnce(db, login, work)),
    reopenLogin: (id) => withDb((db) => reopenLogin(db, id)),
    paymentsFor: (browser, resource) => withDb((db) => findPaymentsFor(db, browser, resource)),
    find: (id) => withDb((db) => findIntent(db, id)),
    list: (options = {}) => withDb((db) => listIntents(db, options)),
    history: (id) => withDb((db) => historyOf(db, id)),
    retry: (id) => withDb((db) => retryIntent(db, id, rest.settings.watchMs)),
    prune: (options) => withDb((db) => pruneIntents(db, options)),
    recheck: async (id) => settlement?.recheck(id),
    inspect: () => withDb((db) => inspected(db, outages, settlement)),
    close: async () => {
      await settlement?.close();
      announcements?.close();
      await opening.close();
    },
  });
}

type WithDatabase = <Value>(use: (db: Database) => Promise<Value>) => Promise<Value>;

function siteDatabase(withDb: WithDatabase): SiteDatabase {
  return Object.freeze<SiteDatabase>({
    query: (sql, values) => withDb((db) => db.query(sql, values)),
    transaction: (work) => withDb((db) => db.transaction(work)),
  });
}

/** @throws {DatabaseOutage} while one lasts, also where the database could still be read */
async function inspected(db: Database, outages?: OutageWatch, settlement?: Settlement): Promise<LedgerReport> {
  outages?.requireNone();
  const { lookedMsAgo = 0, firstCallWaitMs = 0 } = settlement ?? {};
  return { ...(await inspectBacklog(db)), lookedMsAgo, firstCallWaitMs };
}
