import type { DatabaseTransaction, Queryable } from './database/database.js';

/**
 * The states of an intent.
 *
 * - `creating`: reserved for an idempotency key; the sequencer has not accepted it yet, and its secret was not returned.
 * - `open`: accepted by the sequencer and polled.
 * - `submitted`: the sequencer reports it submitted; `onPaid` is due.
 * - `settled`: `onPaid` succeeded.
 * - `reversed`: the sequencer reversed it afterwards and `onReversed` succeeded. It is polled again, because it can be paid again.
 * - `expired`: not paid within `watch.unpaidMs`. It is polled once a day for as long again, and on request.
 * - `dead`: a hook failed too often. `retry` takes it up again.
 */
export const intentStates = ['creating', 'open', 'submitted', 'settled', 'reversed', 'expired', 'dead'] as const;
/** The state of an intent: see docs/ledger.md. */
export type IntentState = (typeof intentStates)[number];

/** The terms of a payment as they are recorded; they never change. */
export interface RecordedTerms {
  /** Decimal with two places. */
  readonly amount: string;
  readonly currency: string;
  readonly destination: string;
  readonly login: boolean;
  readonly resource: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An intent to be recorded. */
export interface NewIntent {
  readonly id: string;
  /** Undefined for a login. */
  readonly terms: RecordedTerms | undefined;
  /** Hash of the cookie of the browser that began it, 32 bytes. */
  readonly browser: Uint8Array;
}

/** The `Idempotency-Key` of a request, and what is stored under it. */
export interface Idempotency {
  readonly key: string;
  /** Of the request, 32 bytes: a repeated request must have the same. */
  readonly fingerprint: Uint8Array;
  /** The client secret, sealed so that only this browser's cookie opens it. */
  readonly sealedSecret: string;
}

/** What an earlier request with the same key stored. */
export interface RepeatedIntent {
  readonly id: string;
  /** While it is `creating`, no request is known to have received an OK of the sequencer. */
  readonly state: IntentState;
  readonly terms: RecordedTerms | undefined;
  readonly fingerprint: Uint8Array;
  readonly sealedSecret: string;
}

/** An intent as the ledger returns it: everything except what would let a reader act for the browser. */
export interface LedgerIntent {
  /** The intent id, Base58. */
  readonly id: string;
  /** A payment that also logs its payer in is a `payment`. */
  readonly kind: 'payment' | 'login';
  /** Its state. */
  readonly state: IntentState;
  /** Decimal with two places; undefined for a login, as are the other terms. */
  readonly amount: string | undefined;
  /** Lowercase three-letter code. */
  readonly currency: string | undefined;
  /** Base58 account that receives the payment. */
  readonly destination: string | undefined;
  /** Whether a payment also logs its payer in; false for a login, which `kind` says. */
  readonly login: boolean;
  /** What the payment unlocks; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The site's own notes from the terms. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Who logged in or paid, where the service knows it. */
  readonly userId: string | undefined;
  /** When it was recorded. */
  readonly createdAt: Date;
  /** When the ledger learned that it was submitted. */
  readonly submittedAt: Date | undefined;
  /** When `onPaid` succeeded. */
  readonly settledAt: Date | undefined;
  /** When `onReversed` succeeded. */
  readonly reversedAt: Date | undefined;
  /** When its login began a session. */
  readonly loginCompletedAt: Date | undefined;
  /** When it is processed next; undefined where nothing is left to do. */
  readonly dueAt: Date | undefined;
  /** How often the hook that is due has failed. */
  readonly attempts: number;
  /** The hook that failed too often, in the state `dead`. */
  readonly deadLetterHook: 'onPaid' | 'onReversed' | 'verifyPayment' | undefined;
  /** The last error, at most 1000 characters; undefined after a success. */
  readonly lastError: string | undefined;
}

/** One change of a state, as the database recorded it. */
export interface StateChange {
  /** When it happened. */
  readonly at: Date;
  /** The state before. */
  readonly from: IntentState;
  /** The state after. */
  readonly to: IntentState;
  /** How often the hook that was due had failed by then. */
  readonly attempts: number;
}

/** Which intents `router.intents.list` returns. */
export interface ListOptions {
  /** Only those in this state. Default: all. */
  readonly state?: IntentState | undefined;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
  /** 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
}

/** A page of intents, newest first. */
export interface IntentPage {
  /** At most `limit` of them. */
  readonly intents: readonly LedgerIntent[];
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
}

/** An intent that leaves the ledger, with its whole history. */
export interface ArchivedIntent extends LedgerIntent {
  /** Oldest first. */
  readonly history: readonly StateChange[];
}

/** Which intents `router.intents.prune` deletes. */
export interface PruneOptions {
  /** Intents created before this are pruned. Intents younger than a day always stay. */
  readonly olderThan: Date;
  /**
   * Receives the intents that are about to be deleted, at most 200 at a time. What it writes through `tx` commits together with
   * the deletion. Other effects may happen twice; the intent id is their key. When it throws, these intents stay.
   */
  readonly archive?:
    | ((intents: readonly ArchivedIntent[], context: { readonly tx: DatabaseTransaction }) => void | Promise<void>)
    | undefined;
  /** Whether payments for a `resource` are deleted too. `requirePayment` no longer finds them then. Default false. */
  readonly includeResources?: boolean | undefined;
}

/** What a site can read and change of its ledger: `router.intents`. */
export interface IntentRecords {
  /** Undefined for an unknown id and for a text that is not an id. @throws {IntentError} `ledger_unavailable` */
  find(id: string): Promise<LedgerIntent | undefined>;
  /** @throws {IntentError} `invalid_request` for invalid options, `ledger_unavailable` */
  list(options?: ListOptions): Promise<IntentPage>;
  /** The changes of state of an intent, oldest first. @throws as `find` */
  history(id: string): Promise<readonly StateChange[]>;
  /**
   * Takes up an intent that was given up: a `dead` one continues with the hook that failed, an `expired` or `reversed` one is
   * watched again. False where there is nothing to take up. @throws as `find`
   */
  retry(id: string): Promise<boolean>;
  /**
   * Polls an unpaid intent now instead of when it is due, because the caller has reason to think that it was paid. Resolves
   * after the attempt and never rejects because of its outcome.
   */
  recheck(id: string): Promise<void>;
  /**
   * Deletes old intents that need no more work: payments that are settled, reversed or expired and no longer watched, and
   * logins. Dead letters and open intents stay. Returns how many were deleted.
   * @throws {IntentError} `invalid_request`, `ledger_unavailable` @throws what `archive` throws
   */
  prune(options: PruneOptions): Promise<number>;
}

/** The database of the ledger, for tables of the site's own: `router.database`. An embedded database has no other access. */
export interface SiteDatabase extends Queryable {
  /**
   * Commits what `work` writes when it resolves. Rolls back when it rejects or when the commit fails. `work` uses only `tx` and
   * awaits each query. It may set savepoints, and may not begin or end a transaction. Session settings end with the transaction.
   * @throws {IntentError} `ledger_unavailable`; when the connection is lost during the commit, the commit may have happened
   * @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value>;
}

/** The work that is due in the ledger and what was given up, for all processes that share it. */
export interface LedgerBacklog {
  /** Due payments that no process has claimed; 1000 stands for more. */
  readonly due: number;
  /** How long the oldest of them has waited, in milliseconds; 0 where there is none. */
  readonly oldestDueMs: number;
  /** Payments whose hook failed too often; 1000 stands for more. */
  readonly deadLetters: number;
}

/** The backlog, and whether this process works on it. */
export interface LedgerReport extends LedgerBacklog {
  /** Since this process last searched for due work successfully, or started, in milliseconds. */
  readonly lastPollMsAgo: number;
  /** The longest that a submitted payment has waited in this process for the first call of its hook, in milliseconds. */
  readonly firstCallWaitMs: number;
}

/** A login to be completed. */
export interface LoginToComplete {
  readonly id: string;
  readonly browser: Uint8Array;
  readonly ttlMs: number;
  readonly userId: string;
}

/**
 * The durable record of intents, as the routes use it. Every method waits for the database within bounded time and rejects
 * with `ledger_unavailable` when it stays unavailable.
 */
export interface Ledger extends Omit<IntentRecords, 'recheck'> {
  /** @throws as `find` */
  readonly database: SiteDatabase;
  /**
   * Resolves once the database is open and migrated. Rejects when the current attempt fails; attempts continue.
   * @throws {IntentError} why it cannot be used
   */
  ready(): Promise<void>;
  /** The client secret of an intent, sealed for the browser that began it; undefined for any other browser. */
  sealedSecret(id: string, browser: Uint8Array): Promise<string | undefined>;
  /** Records an intent that the sequencer has accepted, and begins to watch it. */
  record(intent: NewIntent): Promise<void>;
  /** What is stored under this key for this browser. */
  repeated(browser: Uint8Array, key: string): Promise<RepeatedIntent | undefined>;
  /**
   * Records an intent before it is sent to the sequencer. Where an earlier request used this key, nothing is written and
   * what that request stored is returned.
   */
  reserve(intent: NewIntent, idempotency: Idempotency): Promise<RepeatedIntent | undefined>;
  /** The sequencer has accepted a reserved intent: begins to watch it. Can be called again. */
  confirm(id: string): Promise<void>;
  /** Whether this browser began this login less than `ttlMs` ago and has not completed it. */
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  /**
   * Completes a login for exactly one caller across all processes. What `work` writes commits together with the completion.
   * When `work` rejects, the login can still be completed. False where there is nothing to complete.
   */
  completeLogin(login: LoginToComplete, work: (tx: DatabaseTransaction) => Promise<void>): Promise<boolean>;
  /** Undoes `completeLogin` for a login whose session could not be started. */
  reopenLogin(id: string): Promise<void>;
  /** Payments of this browser for this resource that settled, or may settle: the largest of the settled ones first. */
  paymentsFor(browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]>;
  /**
   * Requests an early poll of an intent that may have been submitted. Returns at once and never throws. The promise resolves
   * after the attempt, or after a bounded time without one.
   */
  recheck(id: string): Promise<void>;
  /** @throws as `find` */
  inspect(): Promise<LedgerReport>;
  /** Claims no more work, gives running work a short time to end, and closes the database. */
  close(): Promise<void>;
}
