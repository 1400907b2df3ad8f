import type { IntentErrorCode } from '../errors.js';

/**
 * How a process first learned of a submission: from the watch of an event stream (`stream`), the poll after a webhook call
 * (`webhook`), the poll for a caller such as a page (`status`), or a poll of the ledger (`ledger`).
 */
export type SubmissionSource = 'stream' | 'webhook' | 'status' | 'ledger';

type IntentKind = 'payment' | 'login';
type LedgerHook = 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';

interface IntentFields {
  /** The id of the intent, Base58. It is public. */
  readonly intent: string;
}

interface KindFields {
  /** The kind of the intent. */
  readonly kind: IntentKind;
}

interface OptionalKindFields {
  /** Undefined if this process does not know it. */
  readonly kind: IntentKind | undefined;
}

interface PaymentFields extends IntentFields {
  /** Decimal with two places, such as `4.50`. */
  readonly amount: string;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
}

interface HookFields extends IntentFields {
  /** The name of the option. */
  readonly hook: LedgerHook;
  /** 1 for the first call to `onPaid` or `onReversed`, plus one for each failure. 1 for the other hooks. */
  readonly attempt: number;
  /** The duration, in milliseconds. */
  readonly durationMs: number;
}

interface OperationFields {
  /** Service and method in the interface, such as `MicroPayment.getStatus`. */
  readonly operation: string;
}

interface ErrorFields {
  /** Explained in `docs/errors.md`. */
  readonly code: IntentErrorCode;
}

/**
 * The fields of each event, without `type` and `atMs`. For a new event: emit it with `observer.emit`, add its cause to
 * `router-events.test.ts` and a row to `docs/events.md`.
 */
export interface RouterEventDetails {
  /** The sequencer has accepted an intent, and the ledger (if any) has recorded it. Its secret is returned next. */
  readonly intent_created: IntentFields &
    KindFields & { readonly amount: string | undefined; readonly currency: string | undefined };
  /** A request with a used `Idempotency-Key` received the same intent. */
  readonly intent_replayed: IntentFields & KindFields;
  /** `POST /intent` failed, except due to a rate limit or disconnect. `kind` is the requested one. */
  readonly intent_failed: ErrorFields & OptionalKindFields;
  /** The QR code was scanned while a page was connected. For display only: anyone who sees it can cause this event. */
  readonly code_scanned: IntentFields;
  /** The wallet declined while a page was connected. For display only: anyone who sees the QR code can cause this event. */
  readonly intent_declined: IntentFields & KindFields;
  /**
   * The sequencer has reported a submission. Without a ledger, each process that receives the report emits this. With a
   * ledger, the process that records the submission of a payment emits this. For a login with a ledger, each process that receives
   * the report and has the client secret emits this.
   */
  readonly intent_submitted: IntentFields & OptionalKindFields & { readonly source: SubmissionSource };
  /** A payment was detected as submitted `afterMs` milliseconds (over 15 minutes) after its creation. It still settles. */
  readonly payment_late: IntentFields & { readonly afterMs: number };
  /** `onPaid` has succeeded and is committed, or the site has none. `lagMs` is the time since the submission was detected. */
  readonly payment_settled: PaymentFields & { readonly late: boolean; readonly lagMs: number };
  /** The sequencer has reversed a payment. For a settled payment, `onReversed` has succeeded, if the site has one. */
  readonly payment_reversed: PaymentFields & { readonly wasSettled: boolean };
  /** The intent was not paid within `ledger.watch.unpaidMs`. A payment within another `ledger.watch.unpaidMs` still settles. */
  readonly payment_expired: IntentFields;
  /** `onPaid`, `onReversed`, `verifyPayment` or `onDeadLetter` has ended without an error. The first two are committed. */
  readonly hook_completed: HookFields;
  /**
   * `onPaid`, `onReversed`, `verifyPayment` or `onDeadLetter` threw, timed out, or could not be committed. `error` is its
   * message, up to 200 characters.
   */
  readonly hook_failed: HookFields & { readonly error: string };
  /** A payment became a dead letter. `attempts` is the number of counted failures (see `ledger.hookLimits.maxAttempts`), which can be 0. */
  readonly dead_letter: IntentFields & {
    readonly hook: Exclude<LedgerHook, 'onDeadLetter'>;
    readonly attempts: number;
    readonly error: string;
  };
  /** A login has started its session. */
  readonly login_completed: IntentFields;
  /** `POST /session` failed, except due to a rate limit or disconnect. */
  readonly login_failed: ErrorFields;
  /** `DELETE /session` or `logOut()` has succeeded, even if no user was logged in. */
  readonly logged_out: unknown;
  /** The sequencer has called the webhook with a valid signature. It may repeat the call. */
  readonly webhook_received: IntentFields;
  /** A webhook call was rejected, such as for its signature, or during shutdown. `code` has the reason. */
  readonly webhook_rejected: ErrorFields;
  /** An address has exceeded a rate limit. Not emitted by `requirePayment`. `route` is a name of the option `routes`. */
  readonly rate_limited: { readonly route: string };
  /** A page has opened the event stream of an intent. */
  readonly stream_opened: IntentFields;
  /** An event stream has ended after `durationMs` milliseconds. */
  readonly stream_closed: IntentFields & { readonly durationMs: number };
  /** An event stream was rejected by a limit of `limits.streams` or during shutdown. */
  readonly stream_rejected: IntentFields & ErrorFields;
  /** A call to the sequencer has ended, after `attempts` attempts and `durationMs` milliseconds in total. */
  readonly upstream_call: OperationFields & {
    readonly transport: UpstreamTransport;
    /** `canceled` if the caller aborted the call, as when the browser disconnects. */
    readonly outcome: 'ok' | 'canceled' | IntentErrorCode;
    readonly attempts: number;
    readonly durationMs: number;
  };
  /** The circuit breaker of an operation has opened after five consecutive failures. */
  readonly breaker_opened: OperationFields;
  /** The sequencer has answered the operation again, and the circuit breaker is closed. */
  readonly breaker_closed: OperationFields;
  /** The ledger cannot open, reach or search its database. */
  readonly ledger_unavailable: ErrorFields;
  /** The database is available again. */
  readonly ledger_recovered: unknown;
}

/** The transport to the sequencer. `custom` is the option `transport`. */
export type UpstreamTransport = 'http' | 'grpc' | 'custom';

/** The `type` of an event. */
export type RouterEventType = keyof RouterEventDetails;

/** An event inside the router, without `atMs`. */
export type RouterEventPayload = {
  [Type in RouterEventType]: { readonly type: Type } & RouterEventDetails[Type];
}[RouterEventType];

/**
 * An event for the option `onEvent`, for logs and analysis. Delivered at most once, in the process where it happens: fulfill
 * payments in `onPaid`, not here. Events contain no secrets.
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

/** Receives the events of a router. Never throws. */
export interface Observer {
  emit(event: RouterEventPayload): void;
}

/** The due payments and the dead letters in the ledger, of all processes that share it. */
export interface LedgerBacklog {
  /** Payments that are due for a poll or a hook call, except those that a process has claimed. Counted up to 1000. */
  readonly due: number;
  /** How long the oldest of them has waited, in milliseconds. 0 if there is none. */
  readonly oldestDueMs: number;
  /** Dead letters, counted up to 1000. */
  readonly deadLetters: number;
}

/** Called at each collection of the metrics. */
export type ReadLedgerBacklog = () => Promise<LedgerBacklog>;
