/** The kinds of events (interface section 6). A site can ignore `airdrop_received` and `webhook_called`. */
export type IntentEventKind =
  | 'code_scanned'
  | 'client_rejected_payment'
  | 'client_rejected_login'
  | 'airdrop_received'
  | 'webhook_called'
  | 'intent_submitted';

/**
 * An event of an intent. All except `intent_submitted` are for display only. Anyone who sees the QR code can send
 * `code_scanned` and `client_rejected_*`.
 */
export interface IntentEvent {
  /** The kind of the event. */
  readonly kind: IntentEventKind;
  /**
   * A stable id of the event: Base58 of the MessageId. For `code_scanned` and `intent_submitted`, which happen once
   * and are also found by polling, it is the kind.
   */
  readonly id: string;
  /** When it happened, in milliseconds since 1970, if the message has a timestamp. */
  readonly timestampMs?: number | undefined;
}

/**
 * Watches an intent: yields each event once and ends after `intent_submitted`, which comes from the status at
 * the sequencer. Faults of the service do not end it: it reopens a broken stream, and polls the status if there are no
 * streams. An abort of `signal` ends it early.
 * @throws {IntentError} `invalid_id`, `invalid_client_secret`, and any other error that no retry can fix
 */
export type WatchIntent = (
  intent: { readonly id: string; readonly clientSecret?: string | undefined },
  options: { readonly signal: AbortSignal },
) => AsyncIterable<IntentEvent>;
