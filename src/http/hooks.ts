import type { Request } from 'express';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { PaymentHooks } from '../ledger/payment.js';

/** A logged-in user: one Ed25519 public key per wallet and domain, so the same person is another user on another domain. */
export interface IntentUser {
  /** Base58 of 32 bytes. */
  readonly id: string;
}

/** The terms of a payment. The server sets them, never the browser. */
export interface SitePaymentTerms {
  /** Decimal string or number with at most two decimals; at least 0.05 usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** Base58 account that receives the payment. Default: `INTENT_DESTINATION`. */
  readonly destination?: string | undefined;
  /** `true` also logs the payer in. */
  readonly login?: boolean | undefined;
  /** What the payment unlocks for the browser that makes it, 1 to 200 characters; see `requirePayment`. */
  readonly resource?: string | undefined;
  /**
   * Notes of the site on this payment, passed to its hooks and never sent anywhere. Anything that JSON can hold, at most 16 KiB;
   * members that are undefined are left out.
   */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An intent that the sequencer has accepted, as the hook `onCreated` receives it. */
export type AcceptedIntent =
  | {
      /** The intent id, Base58. */
      readonly id: string;
      /** Also where the terms had `login: true`. */
      readonly kind: 'payment';
      /** Decimal with two places, such as `4.50`. */
      readonly amount: string;
      /** Lowercase three-letter code, such as `usd`. */
      readonly currency: string;
      /** Base58 account that receives the payment. */
      readonly destination: string;
      /** Whether the payment also logs the payer in. */
      readonly login: boolean;
      /** What the payment unlocks for the browser that makes it; see `requirePayment`. */
      readonly resource: string | undefined;
      /** The notes of the site from the terms; empty where there were none. */
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | {
      /** The intent id, Base58. */
      readonly id: string;
      /** A login has no terms. */
      readonly kind: 'login';
    };

/** The range in which a browser may choose the amount, such as for donations; both ends are included. */
export interface ClientAmount {
  /** Decimal string or number with at most two decimals, at least 0.05 usd. */
  readonly min: string | number;
  /** In the same form as `min`. */
  readonly max: string | number;
  /** Lowercase three-letter code of the amounts; the browser chooses no other. */
  readonly currency: string;
}

/** With `clientAmount` the hook leaves out what the browser chooses. */
type TermsFromHook =
  | SitePaymentTerms
  | (Omit<SitePaymentTerms, 'amount' | 'currency'> & { amount?: never; currency?: never });

/** The decisions of the site. */
export interface Hooks extends PaymentHooks {
  /**
   * Sets the terms of a payment. `req.body.order` is what the page asked for: look it up, do not trust it.
   * `refuse()` in the hook, or an error with a 4xx `status` and a boolean `expose`, refuses the request.
   */
  readonly payment?: ((req: Request) => TermsFromHook | Promise<TermsFromHook>) | undefined;
  /** Lets the browser choose the amount within a range; `payment` then returns only the other terms. */
  readonly clientAmount?: ClientAmount | undefined;
  /**
   * Called after the sequencer has accepted the intent and before the browser gets the secret: the moment to record the intent
   * where no ledger does. When it throws, the browser gets an error and the secret stays on the server. It is called again with
   * the same intent when a browser repeats its request with the same `Idempotency-Key`.
   */
  readonly onCreated?: ((intent: AcceptedIntent, req: Request) => void | Promise<void>) | undefined;
  /**
   * Called before a login is completed and its session begins. With a ledger it runs in the transaction that completes the
   * login: what it writes through `tx` commits together with the login, once, or not at all. When it throws, also by `refuse()`,
   * no session begins, and the login can be completed later. Bounded by `hooks.timeoutMs`.
   * It is called again for the same intent when the session store of the app fails after it and the browser retries.
   */
  readonly onLogin?: ((user: IntentUser, req: Request, context: LoginHookContext) => void | Promise<void>) | undefined;
}

/** The third parameter of `onLogin`. */
export interface LoginHookContext {
  /** The transaction that also completes the login; undefined without a ledger. */
  readonly tx: DatabaseTransaction | undefined;
  /** The id of the intent by which the user has logged in: a login, or a payment with `login: true`. */
  readonly intent: string;
}
