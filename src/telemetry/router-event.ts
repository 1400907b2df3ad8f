import type { IntentErrorCode } from '../errors.js';

/**
 * In which way it was first learnt that an intent was submitted: by the watch that follows it while a page listens
 * (`stream`), by a look after the service's call (`webhook`), because somebody asked, as a page does when it comes (`status`),
 * or by the ledger, which looks by itself.
 */
export type SubmittedWay = 'stream' | 'webhook' | 'status' | 'ledger';

/** What an intent asks for. */
type IntentKind = 'payment' | 'login';
/** A hook that the ledger calls. */
type LedgerHook = 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';

/** An event of one intent. */
interface OfIntent {
  /** The id of the intent, Base58. It is public. */
  readonly intent: string;
}

/** An event that tells what the intent asks for. */
interface OfKind {
  /** What the intent asks for. */
  readonly kind: IntentKind;
}

/** An event that tells what the intent asks for, where that is known. */
interface OfAnyKind {
  /** Undefined where this process does not know it. */
  readonly kind: IntentKind | undefined;
}

/** An event of one payment. */
interface OfPayment extends OfIntent {
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
}

/** An event of one call of a hook. */
interface OfHook extends OfIntent {
  /** Its name, as in the options. */
  readonly hook: LedgerHook;
  /** 1 for the first call. */
  readonly attempt: number;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/** An event of one operation of the sequencer. */
interface OfOperation {
  /** By its names in the interface, such as `MicroPayment.getStatus`. */
  readonly operation: string;
}

/** An event of something that was refused, or has failed. */
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
  /** A call of the webhook was not taken: it is not signed by the service, or not of the right form. */
  readonly webhook_refused: OfCode;
  /** An address has asked more often than it may; `route` is a name of the option `routes`. */
  readonly rate_limited: { readonly route: string };
  /** A page listens to the events of an intent. */
  readonly stream_opened: OfIntent;
  /** It has left, or the stream was ended, after `ms` milliseconds. */
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
  /** It has succeeded again. */
  readonly breaker_closed: OfOperation;
  /** The database of the ledger cannot be reached, or not be opened. */
  readonly ledger_unavailable: OfCode;
  /** It can be reached again. */
  readonly ledger_back: unknown;
}

/** How the sequencer is reached; `custom` is the option `transport`. */
export type UpstreamTransport = 'http' | 'grpc' | 'custom';

/** The `type` of an event. */
export type RouterEventType = keyof RouterEventDetails;

/** What happens, as it is told inside of the router. */
export type RouterEventPayload = {
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

/** The site's listener: the option `onEvent`. */
export type OnEvent = (event: RouterEvent) => void | Promise<void>;

/** Takes the events of a router. It never throws. Without a subscriber there is no observer. */
export interface Observer {
  emit(event: RouterEventPayload): void;
}
