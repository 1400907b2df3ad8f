/** Where a ledger is stored and how payments are settled. All times in milliseconds. */
export interface LedgerSettings {
  /** A `postgres://` URL, or the path of a folder for the embedded ledger. */
  readonly database:
    | { readonly kind: 'postgres'; readonly url: string }
    | { readonly kind: 'embedded'; readonly folder: string };
  readonly migrate: boolean;
  /**
   * Delay from the first status that reports a payment as submitted to a second status request, which must confirm it. 0: no
   * second request before the hooks.
   */
  readonly settleDelayMs: number;
  /** After this time an unpaid payment expires: the option `ledger.watch.unpaidMs`. */
  readonly watchMs: number;
  /** How long a settled payment is polled for a reversal: the option `ledger.watch.settledMs`. */
  readonly reversalWatchMs: number;
  readonly settlementConcurrency: number;
  /** The option `ledger.hookLimits.maxAttempts`, which says which failures are counted. */
  readonly hookAttempts: number;
  readonly hookTimeoutMs: number;
  /** A payment is `late` if the ledger learns of its submission later than this after its creation. */
  readonly lateAfterMs: number;
}
