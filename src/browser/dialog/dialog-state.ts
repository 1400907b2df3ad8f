import type { Problem } from '../flow/api.js';

/**
 * The states that `IntentFlow` sets and describes. The attribute `data-state` has the current state, or `awaitingConfirmation`
 * during `confirmUser`.
 */
export type DialogState =
  | 'preparing'
  | 'waiting'
  | 'scanned'
  | 'completing'
  | 'done'
  | 'declined'
  | 'expired'
  | 'offline'
  | 'silent'
  | 'problem';

/** The states that can offer a retry. If the dialog is closed in one of them, the state is the `reason` of `cancel`. */
export const isRetryable = (state: string): state is 'declined' | 'expired' | 'problem' =>
  /^(declined|expired|problem)$/.test(state);

/** Details of a state. */
export interface StateDetails {
  /** What to show in the state `problem`, and in `completing` while the completion is retried. */
  readonly problem?: Problem;
  /** Whether no retry is offered. */
  readonly isFinal?: boolean;
  /** In the state `problem`: whether it is certain that nothing was paid. */
  readonly isUnpaid?: boolean;
  /** In the state `expired` of a payment: the result of the check for a payment. Undefined during the check. */
  readonly check?: 'unpaid' | 'failed';
}

/** The code of an intent. */
export interface ShownCode {
  /** Holds the amount of a payment. */
  readonly payload: Uint8Array;
  /** The text of the QR code: a wallet link or the client secret. */
  readonly text: string;
  /** The link for a wallet on this device. */
  readonly link: string | undefined;
  readonly expiresAtMs: number;
}
