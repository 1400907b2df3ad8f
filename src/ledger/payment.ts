import type { RecordedExact } from '../intents/exact-terms.js';
import type { DatabaseTransaction } from './database/database.js';

declare global {
  namespace ExpressIntents {
    /**
     * The members of the metadata of this site's payments. A site declares them once, for hooks, `req.intent.payment` and
     * `router.intents`: `declare global { namespace ExpressIntents { interface Metadata { order: string } } }`
     */
    interface Metadata {}
  }
}

/** What a site stores with a payment: the members in `ExpressIntents.Metadata`, or any JSON object if there are none. */
export type SiteMetadata = keyof ExpressIntents.Metadata extends never
  ? Readonly<Record<string, unknown>>
  : Readonly<ExpressIntents.Metadata>;

/** Metadata as the ledger returns it: a `Date` becomes a string, for example. */
export type Stored<Value> = Value extends { toJSON(): infer Json }
  ? Json
  : Value extends object
    ? { readonly [Name in keyof Value]: Stored<Value[Name]> }
    : Value;

/** A payment, as the hooks of the ledger receive it. The site set its terms when it created the intent. */
export interface Payment<Metadata extends object = SiteMetadata> {
  /** The intent id, Base58. The same in every call for this payment: use it as the idempotency key of side effects. */
  readonly id: string;
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
  /** The site's own data from the terms. */
  readonly metadata: Stored<Metadata>;
  /** What the payment unlocks for the browser that made it; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The payer's user id, if the terms have `login: true` and the service knows it. It differs for each wallet and domain. */
  readonly userId: string | undefined;
  /** When the intent was recorded. */
  readonly createdAt: Date;
  /** When the ledger found the payment submitted. If it was reversed and paid again: the latest submission. */
  readonly submittedAt: Date;
}

/** The second argument of `onPaid` and `onReversed`. */
export interface PaymentHookContext {
  /**
   * The transaction that also records the payment as settled, or as reversed in `onReversed`. Writes through it commit
   * together with that change, exactly once. Side effects outside `tx` happen at least once. A ledger in a folder
   * rolls it back 3000 ms after its first statement, and the call fails: do slow work before that.
   */
  readonly tx: DatabaseTransaction;
  /**
   * 1 for the first call, plus one for each failure. A call is sometimes not counted if the process exits during it: see
   * docs/hooks.md.
   */
  readonly attempt: number;
  /** Whether the ledger learned of the submission more than 15 minutes after the creation. */
  readonly late: boolean;
  /**
   * Aborts when the hook or `tx` times out, another process claims the payment, or `close()` stops waiting. `tx` then rolls back.
   */
  readonly signal: AbortSignal;
}

/** The hooks of a site for its payments. */
export interface PaymentHooks<Metadata extends object = SiteMetadata> {
  /**
   * Called for every submitted payment that `verifyPayment` (if set) has verified: at least once, until it succeeds or has failed
   * `ledger.hookLimits.maxAttempts` times. Its success settles the payment. Writes through `tx` take effect exactly once. Needs a ledger.
   */
  readonly onPaid?: ((payment: Payment<Metadata>, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Called when two polls of the settled payment report a reversal. A reversal after `ledger.watch.settledMs` may not be detected. Same
   * guarantees as `onPaid`. Needs a ledger.
   */
  readonly onReversed?: ((payment: Payment<Metadata>, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Called before `onPaid`, for instance to check that the money has arrived. Unless it returns `true`, `onPaid` is not
   * called, and `verifyPayment` is called again at growing intervals. `ledger.watch.unpaidMs` after the submission the payment
   * becomes a dead letter. Needs a ledger.
   */
  readonly verifyPayment?:
    | ((payment: Payment<Metadata>, context: { readonly signal: AbortSignal }) => boolean | Promise<boolean>)
    | undefined;
  /** Called at most once for each dead letter. The payment stays in the ledger and can be retried. Needs a ledger. */
  readonly onDeadLetter?: ((payment: Payment<Metadata>, failure: DeadLetter) => void | Promise<void>) | undefined;
}

/** Why a payment is a dead letter. */
export interface DeadLetter {
  /** The hook that failed last. If the sequencer no longer knows the payment, this is `verifyPayment`, and `error` says so. */
  readonly hook: 'onPaid' | 'onReversed' | 'verifyPayment';
  /** The number of counted failures. `ledger.hookLimits.maxAttempts` says which failures are counted. */
  readonly attempts: number;
  /** The last error. */
  readonly error: unknown;
}
