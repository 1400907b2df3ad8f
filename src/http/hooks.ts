import type { Request } from 'express';
import type { ExactTerms } from '../intents/exact-terms.js';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { RecordedTerms } from '../ledger/ledger.js';
import type { PaymentHooks, SiteMetadata } from '../ledger/payment.js';

/** A request, as hooks receive it. Its body comes from the browser: check it before use. */
export type HookRequest = Request<Request['params'], unknown, unknown>;

/** A logged-in user. The id differs for each wallet and each domain. */
export interface IntentUser {
  /** An Ed25519 public key, Base58 of 32 bytes. */
  readonly id: string;
}

/** The terms of a payment, from the hook `payment` or for `router.createPayment`. Never from the browser. */
export interface SitePaymentTerms<Metadata extends object = SiteMetadata> {
  /** Decimal string or number with at most two decimal places, at least 0.01; 0.05 in usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** A fixed rate (`exact` of interface section 2.4). Default: the rate is open. Not with `clientAmount`. */
  readonly exact?: ExactTerms | undefined;
  /** Account that receives the payment, Base58 or Base64. Default: `INTENT_DESTINATION`. */
  readonly destination?: string | undefined;
  /** What the payer buys, such as `Blue shirt, size M`: one line of 1 to 100 characters. The dialog shows it. */
  readonly description?: string | undefined;
  /** `true` also logs the payer in. Set `mode: 'payment', login: {}` on the button too. */
  readonly login?: boolean | undefined;
  /** What the payment unlocks for the browser that makes it, 1 to 200 characters; see `requirePayment`. */
  readonly resource?: string | undefined;
  /**
   * The site's own data about this payment. It is stored in the ledger and passed to the hooks, and never sent to the
   * browser or the sequencer. A JSON object of at most 16 KiB. An undefined member is an error.
   */
  readonly metadata?: Metadata | undefined;
}

/** An intent that the sequencer has accepted, as the hook `onCreated` receives it. */
export type AcceptedIntent<Metadata extends object = SiteMetadata> =
  | AcceptedPayment<Metadata>
  | {
      /** The intent id, Base58. */
      readonly id: string;
      /** A login has no terms. */
      readonly kind: 'login';
    };

interface AcceptedPayment<Metadata extends object> extends RecordedTerms<Metadata> {
  /** The intent id, Base58. */
  readonly id: string;
  /** A payment with `login: true` is a `payment` too. */
  readonly kind: 'payment';
}

/** The range in which a browser may choose the amount, such as for donations. Both ends are included. */
export interface ClientAmount {
  /** Decimal string or number with at most two decimal places, at least 0.01; 0.05 in usd. */
  readonly min: string | number;
  /** In the same form as `min`. */
  readonly max: string | number;
  /** Lowercase three-letter code of the amounts. The browser cannot change it. */
  readonly currency: string;
}

/** With `clientAmount` the hook omits amount and currency. */
type TermsFromHook<Metadata extends object> =
  | SitePaymentTerms<Metadata>
  | (Omit<SitePaymentTerms<Metadata>, 'amount' | 'currency' | 'exact'> & {
      amount?: never;
      currency?: never;
      exact?: never;
    });

/** The site's hooks. */
export interface Hooks<Metadata extends object = SiteMetadata> extends PaymentHooks<Metadata> {
  /**
   * Sets the terms of a payment. `req.body.order` comes from the page: look it up, do not trust it.
   * To reject the request, call `refuse()` or throw an error with a 4xx `status` and a boolean `expose`.
   */
  readonly payment?: ((req: HookRequest) => TermsFromHook<Metadata> | Promise<TermsFromHook<Metadata>>) | undefined;
  /** Lets the browser choose the amount within a range; `payment` then returns only the other terms. */
  readonly clientAmount?: ClientAmount | undefined;
  /**
   * Called after the sequencer has accepted the intent and before the browser receives the secret. Without a ledger,
   * record the intent here. If it throws, the browser receives an error and the secret stays on the server. With a ledger, a
   * retry with the same `Idempotency-Key` calls it again with the same intent, unless the intent was already recorded as
   * created. Not called for `router.createPayment`.
   */
  readonly onCreated?: ((intent: AcceptedIntent<Metadata>, req: HookRequest) => void | Promise<void>) | undefined;
  /**
   * Called when a wallet has confirmed a login, before its session starts.
   *
   * - Writes through `tx` commit together with the login. Without a ledger there is no `tx`.
   * - If it throws or calls `refuse()`, no session starts. The login can be completed later.
   * - Its timeout is `ledger.hookLimits.timeoutMs` with a ledger, 30 000 ms without one. With an embedded ledger its transaction is rolled
   *   back after 3000 ms.
   * - It is called again for the same intent if the session then cannot start, because the app's session store fails or
   *   `onSession` throws. Its earlier writes stay committed.
   */
  readonly onLogin?:
    | ((user: IntentUser, req: HookRequest, context: LoginHookContext) => void | Promise<void>)
    | undefined;
  /**
   * Called after `onLogin`, with the new session as `req.session`, before that session is stored. Write `req.session.userId`
   * here, or call passport's `req.login(account)`.
   *
   * - Without a session of the app, `req.session` is undefined. `req.res` is available.
   * - If it throws or calls `refuse()`, no session starts: the visitor keeps the data of the old session. The login can be
   *   completed later, and `onLogin` is called again.
   * - Its timeout is `ledger.hookLimits.timeoutMs` with a ledger, 30 000 ms without one.
   * - If the response to a login was lost, `onSession` is called again without `onLogin`. So `onSession` must not depend on data
   *   that `onLogin` stored in `req`.
   */
  readonly onSession?: ((user: IntentUser, req: HookRequest) => void | Promise<void>) | undefined;
}

/** The third parameter of `onLogin`. */
export interface LoginHookContext {
  /** The transaction that also completes the login; undefined without a ledger. */
  readonly tx: DatabaseTransaction | undefined;
  /** The id of the intent that the user confirmed: a login, or a payment with `login: true`. */
  readonly intent: string;
}
