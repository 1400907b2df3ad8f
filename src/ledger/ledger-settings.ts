/** How a ledger is kept, and how payments are settled. All times in milliseconds. */
export interface LedgerSettings {
  /** A `postgres://` URL, or the path of a folder for the embedded ledger. */
  readonly database:
    | { readonly kind: 'postgres'; readonly url: string }
    | { readonly kind: 'embedded'; readonly folder: string };
  /** Whether the tables are made and changed at the start. */
  readonly migrate: boolean;
  /** From the word of the sequencer that a payment was submitted to `onPaid`; then it is asked again. */
  readonly settleDelayMs: number;
  /** How long an intent is watched. */
  readonly watchMs: number;
  /** How long a settled payment is looked at, for the case that it is taken back. */
  readonly reversalWatchMs: number;
  /** How many intents a process looks at, at once. */
  readonly looksAtOnce: number;
  /** After so many failures of a hook a payment is a dead letter. */
  readonly hookAttempts: number;
  /** Bound of one call of a hook. */
  readonly hookTimeoutMs: number;
  /** A payment that came so long after its intent was created is `late`. */
  readonly lateAfterMs: number;
}
