import type { RecordedExact } from '../intents/exact-terms.js';
import type { LedgerBacklog } from '../telemetry/router-event.js';
import type { DatabaseTransaction, Queryable } from './database/database.js';
import type { SiteMetadata, Stored } from './payment.js';

/**
 * The states of an intent. Scanned and declined are not recorded, because anyone who sees the QR code can cause them.
 *
 * - `creating`: reserved for an idempotency key. The sequencer may not have accepted it yet. A payment is polled only on
 *   `recheck`.
 * - `created`: accepted by the sequencer. A payment is polled.
 * - `completed`: a login whose session has started.
 * - `submitted`: the sequencer reports it as submitted. `onPaid` is due.
 * - `settled`: `onPaid` succeeded, or the site has none.
 * - `reversed`: the sequencer reversed the settled payment, and `onReversed` succeeded, or the site has none. It is
 *   polled for another `ledger.watch.unpaidMs`, and on `recheck`.
 * - `expired`: not paid within `ledger.watch.unpaidMs`. It is then polled once a day for another `ledger.watch.unpaidMs`, and on `recheck`.
 * - `dead`: a dead letter. A hook failed too often, the payment could not be verified, or the sequencer no longer
 *   knows it. `retry` resumes it.
 */
export const intentStates = [
  'creating',
  'created',
  'completed',
  'submitted',
  'settled',
  'reversed',
  'expired',
  'dead',
] as const;
/** The state of an intent in the ledger: see docs/ledger-data.md. `IntentStatus` is the status at the sequencer. */
export type IntentState = (typeof intentStates)[number];

/** The terms of a payment, as the ledger records them. They are immutable. */
export interface RecordedTerms<Metadata extends object = SiteMetadata> {
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** The fixed rate, if the site set one. */
  readonly exact?: RecordedExact | undefined;
  /** Base58 account that receives the payment. */
  readonly destination: string;
  /** What the payer buys, as the dialog shows it. */
  readonly description: string | undefined;
  /** Whether the payment also logs the payer in. */
  readonly login: boolean;
  /** What the payment unlocks for the browser that makes it; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The site's own data from the terms; empty if there was none. */
  readonly metadata: Stored<Metadata>;
}

export interface NewIntent {
  readonly id: string;
  readonly terms: RecordedTerms | undefined;
  /** Hash of the cookie of the browser that created it, 32 bytes. Empty if the site created it. */
  readonly browser: Uint8Array;
}

/** The `Idempotency-Key` of a request, and the data stored under it. */
export interface Idempotency {
  readonly key: string;
  /** Hash of the request, 32 bytes. A repeated request must have the same one. */
  readonly fingerprint: Uint8Array;
  /** The client secret, encrypted for its owner: with the browser's cookie, or with the site's keys for `createPayment`. */
  readonly sealedSecret: string;
}

/** The intent that an earlier request with the same key recorded. */
export interface ReplayedIntent {
  readonly id: string;
  /** `creating` until the acceptance by the sequencer is recorded. */
  readonly state: IntentState;
  readonly terms: RecordedTerms | undefined;
  readonly fingerprint: Uint8Array;
  readonly sealedSecret: string;
}

/** What only the browser that created an intent may see. */
export interface BrowserIntent {
  /** Undefined if the request had no idempotency key. */
  readonly sealedSecret: string | undefined;
  readonly description: string | undefined;
}

/** What the ledger knows of every intent. It returns no secrets. */
interface KnownIntent {
  /** The intent id, Base58. */
  readonly id: string;
  /** The current state. */
  readonly state: IntentState;
  /** The user's id, for a login or a payment with `login: true`. Undefined until it is known. */
  readonly userId: string | undefined;
  /** When it was recorded. */
  readonly createdAt: Date;
  /** When the ledger found it submitted. If it was reversed and paid again: the latest submission. */
  readonly submittedAt: Date | undefined;
  /** When it last settled. */
  readonly settledAt: Date | undefined;
  /** When its state last became `reversed`. */
  readonly reversedAt: Date | undefined;
  /** When its login started a session. */
  readonly loginCompletedAt: Date | undefined;
  /** When the ledger polls it or calls its hook next. Undefined if it does neither, as for a login or a dead letter. */
  readonly dueAt: Date | undefined;
  /** The number of failed calls of the pending hook that `ledger.hookLimits.maxAttempts` counts. */
  readonly attempts: number;
  /**
   * In the state `dead`: the hook that failed, or `verifyPayment` if the sequencer no longer knows the payment. Undefined in
   * every other state.
   */
  readonly deadLetterHook: 'onPaid' | 'onReversed' | 'verifyPayment' | undefined;
  /** The last error, at most 1000 characters. Cleared when the payment is submitted, settles or is reversed. */
  readonly lastError: string | undefined;
}

/** A payment in the ledger. One that also logs the payer in is a payment too. */
export interface LedgerPayment<Metadata extends object = SiteMetadata> extends KnownIntent, RecordedTerms<Metadata> {
  readonly kind: 'payment';
}

/** A login in the ledger. It has no terms. */
export interface LedgerLogin extends KnownIntent {
  readonly kind: 'login';
}

/** An intent, as the ledger returns it. `kind` says which. */
export type LedgerIntent<Metadata extends object = SiteMetadata> = LedgerPayment<Metadata> | LedgerLogin;

/** One change of state, as the database recorded it. */
export interface StateChange {
  /** When it happened. */
  readonly at: Date;
  /** The state before. */
  readonly from: IntentState;
  /** The state after. */
  readonly to: IntentState;
  /** The number of failed hook calls before this change. */
  readonly attempts: number;
}

/** Which intents `router.intents.list` returns: those that match all of the given filters. An undefined filter is an error. */
export interface ListOptions {
  /** A payment that also logs the payer in is a `payment`. */
  readonly kind?: 'payment' | 'login';
  /** The current state. */
  readonly state?: IntentState;
  /** The id of a user: lists logins, and payments with `login: true`. */
  readonly userId?: string;
  /** Members that the metadata must contain, such as `{ order: 42 }`; compared by the `jsonb` operator `@>` of Postgres. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Created at this time or later. */
  readonly createdFrom?: Date;
  /** Created before this time. */
  readonly createdBefore?: Date;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
  /** 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
}

/** A page of intents, newest first. */
export interface IntentPage<Metadata extends object = SiteMetadata> {
  /** At most `limit` intents. May be empty although `next` is defined. */
  readonly intents: readonly LedgerIntent<Metadata>[];
  /** Pass it as `after` to get the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/** An intent that `prune` is about to delete, with its whole history. */
export type ArchivedIntent<Metadata extends object = SiteMetadata> = LedgerIntent<Metadata> & {
  /** Oldest first. */
  readonly history: readonly StateChange[];
};

/** Which intents `router.intents.prune` deletes. */
export interface PruneOptions<Metadata extends object = SiteMetadata> {
  /** Finished intents created before this date are deleted. Intents younger than a day always stay. */
  readonly olderThan: Date;
  /**
   * Receives the intents that are about to be deleted, at most 200 at a time. Writes through `tx` commit together with
   * the deletion. Other side effects happen at least once: use the intent id as their idempotency key. If it throws,
   * these intents stay.
   */
  readonly archive?:
    | ((
        intents: readonly ArchivedIntent<Metadata>[],
        context: { readonly tx: DatabaseTransaction },
      ) => void | Promise<void>)
    | undefined;
  /** Whether payments for a `resource` are deleted too. `requirePayment` then no longer finds them. Default false. */
  readonly includeResources?: boolean | undefined;
}

/** The intents of the ledger, for the site: `router.intents`. */
export interface IntentRecords<Metadata extends object = SiteMetadata> {
  /** Undefined if the id is unknown or not an id. @throws {IntentError} `ledger_unavailable` */
  find(id: string): Promise<LedgerIntent<Metadata> | undefined>;
  /** @throws {IntentError} `invalid_request` for invalid options, `ledger_unavailable` */
  list(options?: ListOptions): Promise<IntentPage<Metadata>>;
  /** The state changes of an intent, oldest first. @throws as `find` */
  history(id: string): Promise<readonly StateChange[]>;
  /**
   * Retries a `dead`, `expired` or `reversed` intent. If `onPaid` or `onReversed` failed, calls that hook again; otherwise polls it.
   * False if the intent is in another state or unknown. @throws as `find`
   */
  retry(id: string): Promise<boolean>;
  /**
   * Polls an unpaid payment now instead of when it is due. Resolves after the poll and the hook that follows; without a poll if
   * the id is not an unpaid payment, another process works on it, the ledger is not open, this process lacks a required hook,
   * or 1000 rechecks are queued. Can be pending until the end of a database outage.
   */
  recheck(id: string): Promise<void>;
  /**
   * Deletes old intents that need no more work: logins, payments in the state `creating`, and payments that are settled,
   * reversed or expired and no longer polled. Dead letters, created payments and submitted payments stay.
   * Returns the number of deleted intents.
   * @throws {IntentError} `invalid_request`, `ledger_unavailable` @throws what `archive` throws
   */
  prune(options: PruneOptions<Metadata>): Promise<number>;
}

/** The database of the ledger, for tables of the site: `router.database`. */
export interface SiteDatabase extends Queryable {
  /**
   * Commits the writes of `work` when it resolves. Rolls back if it rejects or the commit fails. `work` must use only
   * `tx` and await each query. It may set savepoints, but not begin or end a transaction. Session settings end with the
   * transaction.
   * @throws as `query`; if the database is lost during the commit, the commit may have happened @throws what `work` throws
   */
  transaction<Value>(work: (tx: DatabaseTransaction) => Promise<Value>): Promise<Value>;
}

/** The backlog, and the progress of this process. */
export interface LedgerReport extends LedgerBacklog {
  /** The time since the last successful search of this process for due payments, or since its start, in milliseconds. */
  readonly lastPollMsAgo: number;
  /** The longest current wait of a payment in this process for its first hook call, in milliseconds. */
  readonly firstCallWaitMs: number;
}

/** A payment for a resource. */
export interface ResourcePayment extends LedgerPayment {
  /** The time until `dueAt`, in milliseconds by the clock of the database. */
  readonly dueInMs: number | undefined;
}

/** A login to complete. */
export interface LoginToComplete {
  readonly id: string;
  readonly browser: Uint8Array;
  readonly ttlMs: number;
  readonly userId: string;
  /** Identifies the request and its retries. */
  readonly key: string;
}

/** A completed login, as a later request finds it. */
export interface Completion {
  readonly userId: string;
  /** Whether the request repeats the one that completed the login. */
  readonly isSameRequest: boolean;
}

/**
 * The durable record of intents, as the routes use it. Reads and writes wait for the database with a timeout, and reject
 * with `ledger_unavailable` if it stays unavailable.
 */
export interface Ledger extends Omit<IntentRecords, 'recheck'> {
  readonly database: SiteDatabase;
  /**
   * Resolves when the database is open and migrated. Rejects when the current attempt fails; attempts continue.
   * @throws {IntentError} with the reason
   */
  ready(): Promise<void>;
  /** What the browser that created an intent may see of it. Undefined for any other browser. */
  findForBrowser(id: string, browser: Uint8Array): Promise<BrowserIntent | undefined>;
  /** Records an intent that the sequencer has accepted. A payment is polled from then on. */
  recordIntent(intent: NewIntent): Promise<void>;
  /** The intent that an earlier request of this browser with this key recorded. Undefined if there is none. */
  findByIdempotencyKey(browser: Uint8Array, key: string): Promise<ReplayedIntent | undefined>;
  /**
   * Records an intent before it is sent to the sequencer. If an earlier request used this key, writes nothing and
   * returns the intent of that request.
   */
  reserve(intent: NewIntent, idempotency: Idempotency): Promise<ReplayedIntent | undefined>;
  /** Records that the sequencer has accepted a reserved intent, and starts to poll a payment. Idempotent. */
  confirm(id: string): Promise<void>;
  /** Whether this browser created this login less than `ttlMs` ago and has not completed it. */
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  /**
   * Completes a login for exactly one caller across all processes. The writes of `work` commit together with the
   * completion. If `work` rejects, the login can still be completed. False if there is no login to complete.
   */
  completeLogin(login: LoginToComplete, work: (tx: DatabaseTransaction) => Promise<void>): Promise<boolean>;
  /** A login that this browser has completed less than `ttlMs` ago. After a repeated request has found it, it cannot be reopened. */
  findCompletion(
    login: Pick<LoginToComplete, 'id' | 'browser' | 'key'>,
    ttlMs: number,
  ): Promise<Completion | undefined>;
  /** Undoes `completeLogin` for a login whose session could not be started. */
  reopenLogin(id: string, key: string): Promise<void>;
  /** At most 20 payments of this browser for this resource: settled (largest first), submitted, dead letters, created. */
  paymentsFor(browser: Uint8Array, resource: string): Promise<readonly ResourcePayment[]>;
  /**
   * Requests an early poll of an intent that may have been submitted. Never rejects. Resolves like `recheck` of
   * {@link IntentRecords}.
   */
  recheck(id: string): Promise<void>;
  /** @throws as `find` */
  inspect(): Promise<LedgerReport>;
  /** Stops claiming work, waits a short time for running work, and closes the database. */
  close(): Promise<void>;
}
