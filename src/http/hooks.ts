import type { Request } from 'express';
import type { PaymentHooks } from '../ledger/payment.js';

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
  /** The site's own notes on this payment; handed to `onCreated`, never sent anywhere. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An intent that the sequencer has accepted, as the site's own hook sees it. */
export type IntentRecord =
  | {
      readonly id: string;
      readonly kind: 'payment';
      readonly amount: string | number;
      readonly currency: string;
      readonly destination: string;
      readonly login: boolean;
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | { readonly id: string; readonly kind: 'login' };

/** The range in which a browser may choose the amount, for donations and the like; both ends count. */
export interface ClientAmount {
  readonly min: string | number;
  readonly max: string | number;
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
   * Called after the sequencer said OK and before the browser gets the secret: the moment to write the intent down.
   * When it throws, the browser gets an error and the secret stays here.
   */
  readonly onCreated?: ((intent: IntentRecord, req: Request) => void | Promise<void>) | undefined;
}
