/** How often the ledger polls, in milliseconds. Intervals are a tenth shorter or longer at random. */
export interface SettlementTiming {
  /** From one search for due payments to the next. */
  readonly roundMs: number;
  /** The first intervals of an unpaid payment; later ones are `watchGrowth` of its age, at most `watchCapMs`. */
  readonly watchFirstMs: number;
  readonly watchGrowth: number;
  readonly watchCapMs: number;
  /** From the first failure of a hook to its next call; doubled each time, at most `retryCapMs`. */
  readonly retryFirstMs: number;
  readonly retryCapMs: number;
  /** From `onPaid` to the first poll for a reversal; later polls follow at twice the age. */
  readonly reversalFirstMs: number;
  /** A reversal counts when a second poll after this interval confirms it. */
  readonly reversalConfirmMs: number;
  /** How long a claim holds without a heartbeat. */
  readonly leaseMs: number;
  /** How many hooks a process calls at once; each holds a connection until it ends. */
  readonly hooksAtOnce: number;
  /** How long running work may take to end when the ledger is closed. */
  readonly closeMs: number;
}

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
  // Fewer than the connections of a pool, so that hooks never take the last one.
  hooksAtOnce: 6,
  closeMs: 5_000,
});

/** The longest interval of a row with a time in the future, written while the clock of the database was ahead. */
const longestOfFutureMs = 15 * 60_000;

/** The interval to the next poll of an unpaid payment: the older, the longer. In milliseconds. */
export function untilNextPollMs(ageMs: number, timing: SettlementTiming): number {
  const { watchFirstMs, watchGrowth, watchCapMs } = timing;
  if (ageMs < 0) return Math.min(Math.max(watchFirstMs, watchGrowth * -ageMs), longestOfFutureMs);
  return Math.min(Math.max(watchFirstMs, watchGrowth * ageMs), watchCapMs);
}

/** The interval to the next poll for a reversal, by the time since the payment settled; undefined after the last poll. */
export function untilReversalPollMs(
  settledAgoMs: number,
  reversalWatchMs: number,
  { reversalFirstMs }: SettlementTiming,
): number | undefined {
  if (settledAgoMs < 0) return Math.min(Math.max(reversalFirstMs, -settledAgoMs), reversalWatchMs);
  return settledAgoMs < reversalWatchMs ? Math.max(reversalFirstMs, settledAgoMs) : undefined;
}
