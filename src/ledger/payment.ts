import type { DatabaseTransaction } from './database/database.js';

/** A payment as the hooks of the ledger see it. Its terms are those the site set when the intent was created. */
export interface Payment {
  /** The intent id, Base58. It is the same in every call for this payment, so it can serve as the key of side effects. */
  readonly id: string;
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** Base58 account that receives the payment. */
  readonly destination: string;
  /** The site's own notes from the terms. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the payment unlocks for the browser that made it; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The payer's id at this domain, where the terms have `login: true` and the service knows it. */
  readonly userId: string | undefined;
  /** When the intent was recorded. */
  readonly createdAt: Date;
  /** When the ledger learned from the sequencer that the payment was submitted. */
  readonly submittedAt: Date;
}

/** The second argument of a hook. */
export interface PaymentHookContext {
  /**
   * The transaction that also settles the payment. What is written through it commits together with the settlement, exactly
   * once. Side effects outside `tx` are at least once.
   */
  readonly tx: DatabaseTransaction;
  /** 1 for the first call, one more after each failure. A call interrupted by the end of its process may not count: see docs/ledger.md. */
  readonly attempt: number;
  /** Whether the payment was submitted after the page that showed its code had expired. */
  readonly late: boolean;
  /** Aborted when the hook has timed out or another process has claimed the payment. Nothing written through `tx` commits then. */
  readonly signal: AbortSignal;
}

/** The hooks of a site for its payments. */
export interface PaymentHooks {
  /**
   * Called for every submitted payment, at least once, until it succeeds or has failed `hooks.maxAttempts` times. When it succeeds, the
   * payment is settled. What it writes through `tx` takes effect exactly once. Needs a ledger.
   */
  readonly onPaid?: ((payment: Payment, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Called when the sequencer reverses a settled payment, with the same guarantees as `onPaid`. Needs a ledger.
   */
  readonly onReversed?: ((payment: Payment, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Called before `onPaid`, for instance to find the transactions on chain. `false` or an error postpones `onPaid`: it is called
   * again at growing intervals, for as long as the intent is watched. Needs a ledger.
   */
  readonly verifyPayment?:
    | ((payment: Payment, context: { readonly signal: AbortSignal }) => boolean | Promise<boolean>)
    | undefined;
  /** Called once for each dead letter. The payment stays in the ledger and can be retried. Needs a ledger. */
  readonly onDeadLetter?: ((payment: Payment, failure: DeadLetter) => void | Promise<void>) | undefined;
}

/** Why a payment is a dead letter. */
export interface DeadLetter {
  /** The hook that failed too often. */
  readonly hook: 'onPaid' | 'onReversed' | 'verifyPayment';
  /** How often it failed. */
  readonly attempts: number;
  /** The last error of the hook. */
  readonly error: unknown;
}
