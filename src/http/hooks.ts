import type { Request } from 'express';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { PaymentHooks } from '../ledger/payment.js';
import type { IntentUser } from './session/session-store.js';

/** What the site asks to be paid; set by the server, never by the browser. */
export interface SitePaymentTerms {
  /** Decimal string or number with at most two decimals; at least 0.05 usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** Base58 account that receives the payment. Default: `INTENT_DESTINATION`. */
  readonly destination?: string | undefined;
  /** `true` logs the payer in as well. */
  readonly login?: boolean | undefined;
  /** What the payment unlocks for the browser that makes it, 1 to 200 characters; see `requirePayment`. */
  readonly resource?: string | undefined;
  /**
   * The site's own notes on this payment, handed to its hooks and never sent anywhere. What JSON can hold, at most 16 KiB of
   * it; members that are undefined are left out.
   */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An intent that the sequencer has accepted, as the site's own hook sees it. */
export type IntentRecord =
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
      /** Whether the payment logs the payer in as well. */
      readonly login: boolean;
      /** What the payment unlocks for the browser that makes it; see `requirePayment`. */
      readonly resource: string | undefined;
      /** The site's own notes from the terms; empty where there were none. */
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | {
      /** The intent id, Base58. */
      readonly id: string;
      /** A login has no terms. */
      readonly kind: 'login';
    };

/** The range in which a browser may choose the amount, for donations and the like; both ends count. */
export interface ClientAmount {
  /** The least that is taken: decimal string or number with at most two decimals, at least 0.05 usd. */
  readonly min: string | number;
  /** The most that is taken, in the same form. */
  readonly max: string | number;
  /** Lowercase three-letter code that amounts are in; the browser names no other. */
  readonly currency: string;
}

/** With `clientAmount` the hook leaves out what the browser chooses. */
type TermsFromHook =
  | SitePaymentTerms
  | (Omit<SitePaymentTerms, 'amount' | 'currency'> & { amount?: never; currency?: never });

/** What the site decides. */
export interface Hooks extends PaymentHooks {
  /**
   * Sets the terms of a payment. `req.body.order` is what the page asked for and is to be looked up, not believed.
   * `refuse()` in it, or an error with a 4xx `status` and a boolean `expose`, refuses the request.
   */
  readonly payment?: ((req: Request) => TermsFromHook | Promise<TermsFromHook>) | undefined;
  /** Lets the browser choose the amount within a range; `payment` then adds only what else there is. */
  readonly clientAmount?: ClientAmount | undefined;
  /**
   * Called after the sequencer said OK and before the browser gets the secret: the moment to write the intent down, where no
   * ledger does. When it throws, the browser gets an error and the secret stays here. It can be called again with the same
   * intent when a browser repeats its request with the same `Idempotency-Key`.
   */
  readonly onCreated?: ((intent: IntentRecord, req: Request) => void | Promise<void>) | undefined;
  /**
   * Called when a login is about to be completed, before its session begins. With a ledger in the transaction that
   * completes the login: what it writes through `tx` commits together with that, once, or not at all. `refuse()`, or
   * anything else that it throws, leaves the login to be completed later, and no session begins. Bounded by `hookTimeoutMs`.
   * It is called again for the same intent when the app's session store fails after it, and the browser tries once more.
   */
  readonly onLogin?: ((user: IntentUser, req: Request, context: LoginHookContext) => void | Promise<void>) | undefined;
}

/** What `onLogin` gets beside the user and the request. */
export interface LoginHookContext {
  /** The transaction that also completes the login; undefined without a ledger. */
  readonly tx: DatabaseTransaction | undefined;
  /** The id of the intent by which the user has logged in: a login, or a payment with `login: true`. */
  readonly intent: string;
}
