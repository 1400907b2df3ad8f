import type { DatabaseTransaction, Queryable } from './database/database.js';
import type { LedgerBacklog } from './intents/inspect-ledger.js';
import type { IntentState } from './intents/intent-state.js';

/** The terms of a payment as they are written down; they never change. */
export interface RecordedTerms {
  /** Decimal with two places. */
  readonly amount: string;
  readonly currency: string;
  readonly destination: string;
  readonly login: boolean;
  readonly resource: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An intent on its way into the ledger. */
export interface NewIntent {
  readonly id: string;
  /** Undefined for a login. */
  readonly terms: RecordedTerms | undefined;
  /** Hash of the cookie of the browser that began it, 32 bytes. */
  readonly browser: Uint8Array;
}

/** The `Idempotency-Key` a browser has sent, and what goes with it. */
export interface Idempotency {
  readonly key: string;
  /** Of the request, 32 bytes: what the same key must come with. */
  readonly fingerprint: Uint8Array;
  /** The client secret, sealed so that only this browser's cookie opens it. */
  readonly sealedSecret: string;
}

/** What an earlier request with the same key has left. */
export interface RepeatedIntent {
  readonly id: string;
  /** While it is `creating` the sequencer has not said OK to anybody who is known to have heard it. */
  readonly state: IntentState;
  readonly terms: RecordedTerms | undefined;
  readonly fingerprint: Uint8Array;
  readonly sealedSecret: string;
}

/** An intent as the ledger shows it: everything but what would let somebody act for the browser. */
export interface LedgerIntent {
  /** The intent id, Base58. */
  readonly id: string;
  /** A payment that logs its payer in as well is a `payment`. */
  readonly kind: 'payment' | 'login';
  /** What has become of it. */
  readonly state: IntentState;
  /** Decimal with two places; undefined for a login, as are the other terms. */
  readonly amount: string | undefined;
  /** Lowercase three-letter code. */
  readonly currency: string | undefined;
  /** Base58 account that receives the payment. */
  readonly destination: string | undefined;
  /** Whether a payment logs its payer in as well; false for a login, which is what `kind` says. */
  readonly login: boolean;
  /** What the payment unlocks; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The site's own notes from the terms. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Who has logged in or paid, where the service knows it. */
  readonly userId: string | undefined;
  /** When it was written down. */
  readonly createdAt: Date;
  /** When the ledger learnt that it was submitted. */
  readonly submittedAt: Date | undefined;
  /** When `onPaid` succeeded. */
  readonly settledAt: Date | undefined;
  /** When `onReversed` succeeded. */
  readonly reversedAt: Date | undefined;
  /** When its login began a session. */
  readonly loginCompletedAt: Date | undefined;
  /** When it is next looked at; undefined where nothing is to be done. */
  readonly dueAt: Date | undefined;
  /** How often the hook that is due has failed. */
  readonly attempts: number;
  /** The hook that has failed too often, in the state `dead`. */
  readonly deadHook: 'onPaid' | 'onReversed' | 'verifyPayment' | undefined;
  /** What went wrong last, as a text of at most 1000 characters; undefined once it went well. */
  readonly lastError: string | undefined;
}

/** One change of a state, as the database has noted it. */
export interface StateChange {
  /** When it happened. */
  readonly at: Date;
  /** The state before. */
  readonly from: IntentState;
  /** The state from then on. */
  readonly to: IntentState;
  /** How often the hook that was due had failed by then. */
  readonly attempts: number;
}

/** Which intents `router.intents.list` gives. */
export interface ListOptions {
  /** Only those in this state. Default: all. */
  readonly state?: IntentState | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
}

/** A page of intents, the newest first. */
export interface IntentPage {
  /** At most `limit` of them. */
  readonly intents: readonly LedgerIntent[];
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
}

/** An intent that leaves the ledger, with everything that has become of it. */
export interface ArchivedIntent extends LedgerIntent {
  /** The oldest first. */
  readonly history: readonly StateChange[];
}

/** Which intents `router.intents.prune` deletes. */
export interface PruneOptions {
  /** What was created before it is pruned; what is younger than a day stays. */
  readonly olderThan: Date;
  /**
   * Takes what is about to be deleted, some 200 at a time, to keep it elsewhere. What it writes through `tx` commits
   * together with the deletion; anything else may be done twice, with the id as its key. When it throws, these stay.
   */
  readonly archive?:
    | ((intents: readonly ArchivedIntent[], context: { readonly tx: DatabaseTransaction }) => void | Promise<void>)
    | undefined;
  /** Whether payments for a `resource` go as well: `requirePayment` knows nothing of them any more. Default false. */
  readonly includeResources?: boolean | undefined;
}

/** What a site asks of its ledger: `router.intents`. */
export interface IntentRecords {
  /** Undefined where there is no such intent, also for what is no id. @throws {IntentError} `ledger_unavailable` */
  find(id: string): Promise<LedgerIntent | undefined>;
  /** @throws {IntentError} `invalid_request` for options that are wrong, `ledger_unavailable` */
  list(options?: ListOptions): Promise<IntentPage>;
  /** What has become of an intent since it was created, the oldest first. @throws as `find` */
  history(id: string): Promise<readonly StateChange[]>;
  /**
   * Takes up an intent again that was given up: what is `dead` goes on with the hook that failed, what has `expired` or
   * was `reversed` is watched again. False where there is nothing to take up. @throws as `find`
   */
  retry(id: string): Promise<boolean>;
  /**
   * Has an intent that nobody has paid so far looked at now, and not only when it is due; whoever calls has reason to
   * think that it was paid. Resolves once that was tried, and never rejects for what came of it.
   */
  look(id: string): Promise<void>;
  /**
   * Deletes old intents with which nothing is left to be done: settled and no longer looked at, reversed or expired and no
   * longer watched, logins. Never dead letters, nor what is open. Gives how many.
   * @throws {IntentError} `invalid_request`, `ledger_unavailable` @throws what `archive` throws
   */
  prune(options: PruneOptions): Promise<number>;
}

/**
 * The database of the ledger, for tables of the site's own beside it: `router.database`. An embedded one is reached by no
 * other way.
 */
export interface SiteDatabase extends Queryable {
  /**
   * Commits what `work` has written when it resolves, and rolls it back when it rejects or when the commit fails. `work` uses
   * `tx` alone and awaits each query; it may set savepoints, and may not begin or end a transaction. What it sets for the session
   * ends with the transaction.
   * @throws {IntentError} `ledger_unavailable`; when the connection is lost during the commit, it may have been done
   * @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value>;
}

/** What is to be done in the ledger, and whether this process does it. */
export interface LedgerReport extends LedgerBacklog {
  /** Since this process has last looked for work and could, or begun to, in milliseconds. */
  readonly lookedMsAgo: number;
  /** The longest that a submitted payment has waited in this process for the first call of its hook, in milliseconds. */
  readonly firstCallWaitMs: number;
}

/**
 * The durable record of intents, as the routes use it. Every method waits until the database is there, within bounded
 * time, and rejects with `ledger_unavailable` when it is not.
 */
export interface Ledger extends Omit<IntentRecords, 'look'> {
  /** @throws as `find` */
  readonly database: SiteDatabase;
  /**
   * Resolves once the database is open and migrated; rejects as soon as a try has failed, and another one comes by itself.
   * @throws {IntentError} why it cannot be used
   */
  ready(): Promise<void>;
  /** The client secret of an intent as it was sealed for the browser that began it; undefined for any other browser. */
  sealedSecret(id: string, browser: Uint8Array): Promise<string | undefined>;
  /** Writes an intent down that the sequencer has accepted; from now on it is watched. */
  record(intent: NewIntent): Promise<void>;
  /** What was kept under this key for this browser. */
  repeated(browser: Uint8Array, key: string): Promise<RepeatedIntent | undefined>;
  /**
   * Writes an intent down before the sequencer is asked. Where another request with this key was first, nothing is written
   * and what that one has left is given back.
   */
  reserve(intent: NewIntent, idempotency: Idempotency): Promise<RepeatedIntent | undefined>;
  /** The sequencer has accepted what was reserved: from now on it is watched. Can be called again. */
  confirm(id: string): Promise<void>;
  /** Whether this browser began this login less than `ttlMs` ago, and has not completed it. */
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  /**
   * Completes a login, for one caller alone across all processes: what `work` writes commits together with that. When
   * `work` rejects, the login can still be completed. False where there was nothing to complete.
   */
  completeLogin(
    login: { readonly id: string; readonly browser: Uint8Array; readonly ttlMs: number; readonly userId: string },
    work: (tx: DatabaseTransaction) => Promise<void>,
  ): Promise<boolean>;
  /** Undoes `completeLogin` for a login whose session could not be begun after all. */
  reopenLogin(id: string): Promise<void>;
  /**
   * Payments of this browser for this resource that have settled, or may soon: the largest first of those that have.
   */
  paymentsFor(browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]>;
  /**
   * Polls a payment now instead of when it is due. Never throws. Resolves when the work that was due for it was tried, or
   * after a bounded time.
   */
  recheck(id: string): Promise<void>;
  /** @throws as `find` */
  inspect(): Promise<LedgerReport>;
  /** Takes no more work, gives running work a short time to end, and closes the database. */
  close(): Promise<void>;
}
