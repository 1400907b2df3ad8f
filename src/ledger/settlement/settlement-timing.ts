/** The intervals of the ledger, in milliseconds. Jitter changes some of them by up to a tenth. */
export interface SettlementTiming {
  /** From one search for due payments to the next. */
  readonly roundMs: number;
  /** The first interval of polls of an unpaid payment. Later ones: `watchGrowth` times its age, up to `watchCapMs`. */
  readonly watchFirstMs: number;
  readonly watchGrowth: number;
  readonly watchCapMs: number;
  /** From the first failure of a hook to its next call; doubled each time, at most `retryCapMs`. */
  readonly retryFirstMs: number;
  readonly retryCapMs: number;
  /** From `onPaid` to the first poll for a reversal. Later polls follow when the time since `onPaid` has doubled. */
  readonly reversalFirstMs: number;
  /** From a poll that reports a reversal to the one that must confirm it. */
  readonly reversalConfirmMs: number;
  /** How long a claim lasts without a heartbeat. */
  readonly leaseMs: number;
  /** How many hooks of the lanes `first` and `retry` a process runs at once. Each holds a database connection until it ends. */
  readonly hookConcurrency: number;
  /** How long `close` waits for running hooks before it aborts them. */
  readonly closeMs: number;
}

/** docs/scaling.md and docs/several-databases.md depend on these. After a change run `test/bench/scaling-model.test.ts`. */
export const defaultTiming: SettlementTiming = Object.freeze({
  roundMs: 1_000,
  watchFirstMs: 2_000,
  watchGrowth: 0.25,
  watchCapMs: 24 * 3_600_000,
  retryFirstMs: 1_000,
  retryCapMs: 3_600_000,
  reversalFirstMs: 60_000,
  reversalConfirmMs: 10_000,
  leaseMs: 30_000,
  // Fewer than the ten connections of the pool, so hooks never take the last one.
  hookConcurrency: 6,
  closeMs: 5_000,
});

/** The cap for a payment whose age is negative, because it was written while the clock of the database was ahead. */
const clockAheadCapMs = 15 * 60_000;

/** The interval to the next poll, in milliseconds. It grows with the age of the payment. */
export function untilNextPollMs(ageMs: number, timing: SettlementTiming): number {
  const { watchFirstMs, watchGrowth, watchCapMs } = timing;
  if (ageMs < 0) return Math.min(Math.max(watchFirstMs, watchGrowth * -ageMs), clockAheadCapMs);
  return Math.min(Math.max(watchFirstMs, watchGrowth * ageMs), watchCapMs);
}

/** The interval to the next poll for a reversal, in milliseconds. Undefined after the last poll. */
export function untilReversalPollMs(
  settledAgoMs: number,
  reversalWatchMs: number,
  { reversalFirstMs }: SettlementTiming,
): number | undefined {
  if (settledAgoMs < 0) return Math.min(Math.max(reversalFirstMs, -settledAgoMs), reversalWatchMs);
  return settledAgoMs < reversalWatchMs ? Math.max(reversalFirstMs, settledAgoMs) : undefined;
}
