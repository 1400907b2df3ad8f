import type { IntentErrorCode } from '../errors.js';

/**
 * How a process first learned that an intent was submitted: from the watch that follows it while a page listens (`stream`), from
 * the poll after a webhook call (`webhook`), from the poll for a caller, such as a page (`status`), or from the ledger's polls.
 */
export type SubmissionSource = 'stream' | 'webhook' | 'status' | 'ledger';

/** What an intent asks for. */
type IntentKind = 'payment' | 'login';
/** A hook that the ledger calls. */
type LedgerHook = 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';

/** An event of one intent. */
interface OfIntent {
  /** The id of the intent, Base58. It is public. */
  readonly intent: string;
}

/** An event with the kind of the intent. */
interface OfKind {
  /** What the intent asks for. */
  readonly kind: IntentKind;
}

/** An event with the kind of the intent, where it is known. */
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
  readonly durationMs: number;
}

/** An event of one operation of the sequencer. */
interface OfOperation {
  /** By its names in the interface, such as `MicroPayment.getStatus`. */
  readonly operation: string;
}

/** An event of a refusal or a failure. */
interface OfCode {
  /** Explained in `docs/errors.md`. */
  readonly code: IntentErrorCode;
}

/** The fields of each event besides `type` and time. */
export interface RouterEventDetails {
  /** The sequencer has accepted an intent, the ledger (if any) has recorded it, and its secret is about to be answered. */
  readonly intent_created: OfIntent &
    OfKind & { readonly amount: string | undefined; readonly currency: string | undefined };
  /** A request with a used `Idempotency-Key` is answered with the same intent. */
  readonly intent_replayed: OfIntent & OfKind;
  /** `POST /intent` was not answered with an intent. `kind` is what the body named. */
  readonly intent_refused: OfCode & OfAnyKind;
  /** The code was scanned. For display only: anyone who sees the code can cause it. */
  readonly code_scanned: OfIntent;
  /** The wallet declined. For display only: anyone who sees the code can cause it. */
  readonly intent_declined: OfIntent & OfKind;
  /** The sequencer says that an intent was submitted. */
  readonly intent_submitted: OfIntent & OfAnyKind & { readonly source: SubmissionSource };
  /** A payment was submitted over 15 minutes after it was created; it still counts. */
  readonly payment_late: OfIntent & { readonly afterMs: number };
  /** `onPaid` has succeeded and is committed. `lagMs` is the time since the payment was known to be submitted. */
  readonly payment_settled: OfPayment & { readonly late: boolean; readonly lagMs: number };
  /** The sequencer has reversed a payment: before it settled, or after, when `onReversed` has succeeded. */
  readonly payment_reversed: OfPayment & { readonly wasSettled: boolean };
  /** The payment did not come within `watch.unpaidMs`. */
  readonly payment_expired: OfIntent;
  /** A hook of the ledger has succeeded; `onPaid` and `onReversed` are committed. */
  readonly hook_completed: OfHook;
  /** A hook threw, timed out, or could not be committed. `error` is its text, up to 200 characters. */
  readonly hook_failed: OfHook & { readonly error: string };
  /** A payment became a dead letter, after this many attempts. */
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
  /** The service has called the webhook, and the signature is valid. The same call may come again. */
  readonly webhook_received: OfIntent;
  /** A call of the webhook was refused: it is not signed by the service, or malformed. */
  readonly webhook_refused: OfCode;
  /** An address has reached its rate limit; `route` is a name of the option `routes`. */
  readonly rate_limited: { readonly route: string };
  /** A page listens to the events of an intent. */
  readonly stream_opened: OfIntent;
  /** An event stream has ended, after `durationMs` milliseconds. */
  readonly stream_closed: OfIntent & { readonly durationMs: number };
  /** An event stream was refused. */
  readonly stream_refused: OfIntent & OfCode;
  /** A call to the sequencer has ended, after `attempts` attempts and `durationMs` milliseconds in all. */
  readonly upstream_call: OfOperation & {
    readonly transport: UpstreamTransport;
    /** `cancelled` where the caller has disconnected. */
    readonly outcome: 'ok' | 'cancelled' | IntentErrorCode;
    readonly attempts: number;
    readonly durationMs: number;
  };
  /** The circuit of an operation has opened after five failures in a row. */
  readonly breaker_opened: OfOperation;
  /** The operation has succeeded again. */
  readonly breaker_closed: OfOperation;
  /** The database of the ledger cannot be reached or opened. */
  readonly ledger_unavailable: OfCode;
  /** It can be reached again. */
  readonly ledger_recovered: unknown;
}

/** How the sequencer is reached; `custom` is the option `transport`. */
export type UpstreamTransport = 'http' | 'grpc' | 'custom';

/** The `type` of an event. */
export type RouterEventType = keyof RouterEventDetails;

/** An event as it is emitted inside the router, before it has its time. */
export type RouterEventPayload = {
  [Type in RouterEventType]: { readonly type: Type } & RouterEventDetails[Type];
}[RouterEventType];

/**
 * An event in the life of intents, for logs and analysis: the option `onEvent`. Each is emitted at most once, by the process
 * in which it happens, and can be lost: fulfil payments in `onPaid`. None holds a secret.
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

/** What waits in the ledger. Not in metrics.ts, whose types need @opentelemetry/api. */
interface Waiting {
  readonly due: number;
  readonly oldestDueMs: number;
  readonly deadLetters: number;
}

/** Called at each collection of the metrics. */
export type ReadWaiting = () => Promise<Waiting>;
