/**
 * The states of an intent in the ledger.
 *
 * - `creating`: it has an idempotency key, and the sequencer has not yet said OK; its secret never left.
 * - `open`: accepted by the sequencer and watched.
 * - `submitted`: the sequencer said so; `onPaid` is still to come.
 * - `settled`: `onPaid` has succeeded.
 * - `reversed`: the sequencer has taken it back after that, and `onReversed` has succeeded; watched on,
 *   since it can be paid once more.
 * - `expired`: nobody has paid within `watchMs`; rechecked daily for as long again, and on request.
 * - `dead`: a hook has failed too often; see `retry`.
 */
export const intentStates = ['creating', 'open', 'submitted', 'settled', 'reversed', 'expired', 'dead'] as const;
/** What has become of an intent: see docs/ledger.md. */
export type IntentState = (typeof intentStates)[number];
