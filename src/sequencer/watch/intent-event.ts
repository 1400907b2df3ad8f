/** The message kinds that travel as events (interface section 6). */
export type IntentEventKind =
  | 'code_scanned'
  | 'client_rejected_payment'
  | 'client_rejected_login'
  | 'airdrop_received'
  | 'webhook_called'
  | 'intent_submitted';

/** Something that happened to an intent. All but `intent_submitted` are for display: whoever sees the code can send them. */
export interface IntentEvent {
  /** What happened. */
  readonly kind: IntentEventKind;
  /**
   * Base58 of the MessageId; of `code_scanned` and `intent_submitted`, which happen once and are also learnt by asking for
   * the status, the kind itself. The same event has the same id.
   */
  readonly id: string;
  /** When it happened, in milliseconds since 1970, where the message says so. */
  readonly timestampMs?: number | undefined;
}

/**
 * Follows an intent: yields each event once, ends after `intent_submitted`, which is the sequencer's own word, asked for
 * by getStatus. It outlives faults of the service: a stream that breaks is opened again, and without streams the status
 * is asked for. Ends early when `signal` is aborted.
 * @throws {IntentError} `invalid_id`, `invalid_client_secret`, and whatever else no waiting can mend
 */
export type WatchIntent = (
  intent: { readonly id: string; readonly clientSecret?: string | undefined },
  options: { readonly signal: AbortSignal },
) => AsyncIterable<IntentEvent>;
