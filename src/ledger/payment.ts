import type { DatabaseTransaction } from './database/database.js';

/** A payment as the hooks of the ledger see it. Its terms are those the site set when the intent was created. */
export interface Payment {
  /** The intent id, Base58: the same at every call for this payment, so that it can be the key of what is done for it. */
  readonly id: string;
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** Base58 account that receives the payment. */
  readonly destination: string;
  /** What the site noted when it set the terms. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the payment unlocks for the browser that made it; see `requirePayment`. */
  readonly resource: string | undefined;
  /** The payer's id at this domain, where the terms had `login: true` and the service knows it. */
  readonly userId: string | undefined;
  /** When the intent was written down. */
  readonly createdAt: Date;
  /** When the ledger learnt from the sequencer that the payment was submitted. */
  readonly submittedAt: Date;
}

/** What a hook gets beside the payment. */
export interface PaymentHookContext {
  /**
   * The transaction that also settles the payment: what is written through it commits together with that, once, or not at
   * all. Everything else that a hook does may happen again after a crash.
   */
  readonly tx: DatabaseTransaction;
  /** 1 for the first call, one more after each that failed. A call that ended with its process may not count: see docs/ledger.md. */
  readonly attempt: number;
  /** Whether the payment came after the page that showed its code had expired. */
  readonly late: boolean;
  /** Aborted when the time of the hook is over or when its work is no longer its own; nothing that it writes counts then. */
  readonly signal: AbortSignal;
}

/** What a site does about its payments. */
export interface PaymentHooks {
  /**
   * Called for every payment that has settled, at least once, until it succeeds or `hookAttempts` is reached. What it
   * writes through `tx` takes effect exactly once. Needs a ledger.
   */
  readonly onPaid?: ((payment: Payment, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Called when the sequencer takes back a payment for which `onPaid` was called; as often, and with the same promises.
   * Needs a ledger.
   */
  readonly onReversed?: ((payment: Payment, context: PaymentHookContext) => void | Promise<void>) | undefined;
  /**
   * Asked before `onPaid`, for instance to look for the transactions on chain. `false` and an error mean: not yet; it is
   * asked again later and later, for as long as the intent is watched. Needs a ledger.
   */
  readonly verifyPayment?:
    | ((payment: Payment, context: { readonly signal: AbortSignal }) => boolean | Promise<boolean>)
    | undefined;
  /** Told, once, of a payment that a hook gave up on; it stays in the ledger and can be retried. Needs a ledger. */
  readonly onDeadLetter?: ((payment: Payment, failure: DeadLetter) => void | Promise<void>) | undefined;
}

/** Why a payment is a dead letter. */
export interface DeadLetter {
  /** The hook that has failed too often. */
  readonly hook: 'onPaid' | 'onReversed' | 'verifyPayment';
  /** How often it has failed. */
  readonly attempts: number;
  /** What the hook threw last. */
  readonly error: unknown;
}
