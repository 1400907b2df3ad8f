import type { IntentErrorCode } from '../errors.js';

/** In which way it was first learnt that an intent was submitted. */
export type SubmittedWay =
  /** By the watch that follows the intent while a page listens: a message stream, or where there is none its own questions. */
  | 'stream'
  /** By a look after the service's webhook call. */
  | 'webhook'
  /** Because somebody asked for the status, as a page does when it comes. */
  | 'status'
  /** By the ledger, which looks by itself. */
  | 'ledger';

type IntentKind = 'payment' | 'login';
type LedgerHook = 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';

interface OfIntent {
  /** The id of the intent, Base58. It is public. */
  readonly intent: string;
}

interface OfKind {
  readonly kind: IntentKind;
}

/** Where the process need not know it. */
interface OfAnyKind {
  readonly kind: IntentKind | undefined;
}

interface OfPayment extends OfIntent {
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
}

interface OfHook extends OfIntent {
  readonly hook: LedgerHook;
  /** 1 for the first call. */
  readonly attempt: number;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

interface OfOperation {
  /** By its names in the interface, such as `MicroPayment.getStatus`. */
  readonly operation: string;
}

interface OfCode {
  /** What `docs/errors.md` has an entry for. */
  readonly code: IntentErrorCode;
}

/** What each event tells beside its `type` and its time. */
export interface RouterEventDetails {
  /** The sequencer has accepted an intent, it is written down where there is a ledger, and its secret is about to be answered. */
  readonly intent_created: OfIntent &
    OfKind & { readonly amount: string | undefined; readonly currency: string | undefined };
  /** A request with an `Idempotency-Key` that was used before got the same intent again. */
  readonly intent_repeated: OfIntent & OfKind;
  /** `POST /intent` was not answered with an intent. `kind` is what the body named. */
  readonly intent_refused: OfCode & OfAnyKind;
  /** Somebody has scanned the code, or says so: whoever sees the code can. */
  readonly code_scanned: OfIntent;
  /** The wallet has declined, or somebody who sees the code says so. */
  readonly intent_declined: OfIntent & OfKind;
  /** The sequencer says that an intent was submitted. */
  readonly intent_submitted: OfIntent & OfAnyKind & { readonly way: SubmittedWay };
  /** A payment was submitted later than `lateAfterMs` after it was created; it is a payment all the same. */
  readonly payment_late: OfIntent & { readonly afterMs: number };
  /** A payment has settled: `onPaid` has succeeded and is committed. `lagMs` is the time since it was known to be submitted. */
  readonly payment_settled: OfPayment & { readonly late: boolean; readonly lagMs: number };
  /** The sequencer has taken a payment back: after it had settled, when `onReversed` has succeeded, or before. */
  readonly payment_reversed: OfPayment & { readonly wasSettled: boolean };
  /** Nobody has paid for as long as the payment was watched. */
  readonly payment_expired: OfIntent;
  /** A hook of the ledger has succeeded; `onPaid` and `onReversed` are committed. */
  readonly hook_completed: OfHook;
  /** It threw, took too long, or could not be committed. `error` is its text, 200 characters at the most. */
  readonly hook_failed: OfHook & { readonly error: string };
  /** A payment was given up to a person, after so many calls of the hook. */
  readonly dead_letter: OfIntent & {
    readonly hook: Exclude<LedgerHook, 'onDeadLetter'>;
    readonly attempts: number;
    readonly error: string;
  };
  /** A login has begun its session. */
  readonly login_completed: OfIntent;
  /** `POST /session` began no session. */
  readonly login_refused: OfCode;
  /** `DELETE /session` was answered. */
  readonly logged_out: unknown;
  /** The service has called the webhook, and the signature is right. The same call may come again. */
  readonly webhook_received: OfIntent;
  readonly webhook_refused: OfCode;
  /** An address has asked more often than it may; `route` is a name of the option `routes`. */
  readonly rate_limited: { readonly route: string };
  readonly stream_opened: OfIntent;
  readonly stream_closed: OfIntent & { readonly ms: number };
  /** No place was free for a stream of events. */
  readonly stream_refused: OfIntent & OfCode;
  /** A call to the sequencer has ended, after `tries` tries and `ms` milliseconds in all. */
  readonly upstream_call: OfOperation & {
    readonly transport: UpstreamTransport;
    /** `cancelled` where nobody waited for the answer any more. */
    readonly outcome: 'ok' | 'cancelled' | IntentErrorCode;
    readonly tries: number;
    readonly ms: number;
  };
  /** An operation has failed five times in a row, and is left alone for some seconds. */
  readonly breaker_opened: OfOperation;
  readonly breaker_closed: OfOperation;
  /** The database of the ledger cannot be reached, or not be opened. */
  readonly ledger_unavailable: OfCode;
  readonly ledger_back: unknown;
}

/** How the sequencer is reached; `custom` is the option `transport`. */
export type UpstreamTransport = 'http' | 'grpc' | 'custom';

export type RouterEventType = keyof RouterEventDetails;

/** What happens, as it is told inside of the router. */
export type Happening = {
  [Type in RouterEventType]: { readonly type: Type } & RouterEventDetails[Type];
}[RouterEventType];

/**
 * What happens in the life of intents, for logs and analysis: the option `onEvent`. Events are told by the process in which
 * something happens, at most once each, and can be lost: fulfil payments in `onPaid`. None holds a secret.
 */
export type RouterEvent = {
  [Type in RouterEventType]: {
    readonly type: Type;
    /** Milliseconds since 1970. */
    readonly atMs: number;
  } & RouterEventDetails[Type];
}[RouterEventType];
