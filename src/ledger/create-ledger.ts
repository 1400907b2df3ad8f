import { Semaphore, type SemaphoreWait } from '../async/semaphore.js';
import { withTimeout } from '../async/timeout.js';
import { withCallerStacks } from '../caller-stack.js';
import { IntentError } from '../errors.js';
import type { Database } from './database/database.js';
import { DatabaseConnector } from './database/database-connector.js';
import { canCompleteLogin, completeLoginOnce, findCompletion, reopenLogin } from './intents/complete-login.js';
import {
  findByIdempotencyKey,
  findForBrowser,
  findIntent,
  findPaymentsFor,
  historyOf,
} from './intents/find-intents.js';
import { IntentRecorder } from './intents/intent-recorder.js';
import { listIntents } from './intents/list-intents.js';
import { pruneIntents } from './intents/prune-intents.js';
import { retryIntent } from './intents/retry-intent.js';
import type { Ledger, SiteDatabase } from './ledger.js';
import { inspectBacklog } from './settlement/claim-payments.js';
import { Settlement } from './settlement/settlement.js';
import type { SettlementContext } from './settlement/settlement-context.js';
import { defaultTiming, type SettlementTiming } from './settlement/settlement-timing.js';
import { SubmissionNotifier } from './settlement/submission-notifier.js';

export interface CreateLedgerOptions extends Omit<SettlementContext, 'db' | 'timing' | 'notifySubmitted'> {
  readonly open: () => Promise<Database>;
  /** On Postgres: called with the id of a payment whose submission a process has detected. A call may be lost. */
  readonly onSubmitted?: ((id: string) => void) | undefined;
  readonly timing?: Partial<SettlementTiming> | undefined;
}

/**
 * A completion holds a connection. Together, logins and the hooks of payments never take the last of the ten connections of the
 * pool.
 */
const loginConcurrency = 2;
const loginSlotWait: SemaphoreWait = {
  timeoutMs: 5_000,
  timeoutError: () => {
    const message =
      'The login waited 5 s for other logins, or for an earlier request for the same login. A process completes ' +
      `${loginConcurrency} logins at a time. Keep onLogin and transactions short.`;
    return new IntentError('ledger_unavailable', message);
  },
};

/** Completes logins, {@link loginConcurrency} at a time. */
function loginCompleter(db: Database): Ledger['completeLogin'] {
  const slots = new Semaphore(loginConcurrency);
  const completions = new Map<string, Promise<boolean>>();
  return async (login, work) => {
    let { timeoutMs, timeoutError } = loginSlotWait;
    // Waits without a slot. In a slot it would wait for the lock of the login, and one browser could take all slots.
    for (let earlier = completions.get(login.id); earlier; earlier = completions.get(login.id)) {
      const ended = earlier.catch(() => undefined);
      const startedAt = performance.now();
      await withTimeout(timeoutMs, () => ended, { error: timeoutError });
      timeoutMs -= performance.now() - startedAt;
    }
    const completion = slots.run({ timeoutMs, timeoutError }, () => completeLoginOnce(db, login, work));
    completions.set(login.id, completion);
    return completion.finally(() => completions.delete(login.id));
  };
}

/**
 * Opens the database in the background, then settles the payments in it.
 *
 *     opening -- the database opens ---> settling: the settlement and the notifier run
 *     opening, settling -- close ------> closed: no settlement starts any more
 */
export function createLedger(options: CreateLedgerOptions): Ledger {
  const { open, timing: timingOptions, onSubmitted = () => undefined, ...parts } = options;
  const { settings, logger, observer } = parts;
  const timing = { ...defaultTiming, ...timingOptions };
  const watch = { watchFirstMs: timing.watchFirstMs, watchMs: settings.watchMs };
  let settlement: Settlement | undefined;
  let notifier: SubmissionNotifier | undefined;
  let isClosing = false;
  const db = new DatabaseConnector({
    open,
    logger,
    observer,
    onOpen: () => {
      // `close` was called before the database was open. It found no settlement to close, so none may start.
      if (isClosing) return;
      notifier = new SubmissionNotifier(db, onSubmitted);
      settlement = new Settlement({ db, timing, notifySubmitted: (id) => notifier?.notify(id), ...parts });
      settlement.start();
    },
    onRecovered: () => settlement?.resume(),
  });
  const recorder = new IntentRecorder(db, watch);
  return Object.freeze<Ledger>({
    database: withCallerStacks<SiteDatabase>({
      query: (sql, values) => db.query(sql, values),
      transaction: (work) => db.transaction(work),
    }),
    ready: () => db.ready(),
    findForBrowser: (id, browser) => findForBrowser(db, id, browser),
    recordIntent: (intent) => recorder.record(intent),
    findByIdempotencyKey: (browser, key) => findByIdempotencyKey(db, browser, key),
    reserve: async (intent, idempotency) => {
      const isFirst = await recorder.reserve({ intent, idempotency });
      return isFirst ? undefined : findByIdempotencyKey(db, intent.browser, idempotency.key);
    },
    confirm: (id) => recorder.confirm(id),
    canCompleteLogin: (id, browser, ttlMs) => canCompleteLogin(db, id, browser, ttlMs),
    completeLogin: loginCompleter(db),
    findCompletion: (login, ttlMs) => findCompletion(db, login, ttlMs),
    reopenLogin: (id, key) => reopenLogin(db, id, key),
    paymentsFor: (browser, resource) => findPaymentsFor(db, browser, resource),
    find: (id) => findIntent(db, id),
    list: (listOptions = {}) => listIntents(db, listOptions),
    history: (id) => historyOf(db, id),
    retry: (id) => retryIntent(db, id, settings.watchMs),
    prune: (pruneOptions) => pruneIntents(db, pruneOptions),
    recheck: async (id) => settlement?.recheck(id),
    inspect: async () => {
      db.requireUp();
      const backlog = await inspectBacklog(db);
      const { lastPollMsAgo = 0, firstCallWaitMs = 0 } = settlement ?? {};
      return { ...backlog, lastPollMsAgo, firstCallWaitMs };
    },
    close: async () => {
      isClosing = true;
      await settlement?.close();
      notifier?.close();
      await db.close();
    },
  });
}
