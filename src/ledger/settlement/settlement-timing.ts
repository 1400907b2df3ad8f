/** How often the ledger looks, in milliseconds. Intervals between two looks are drawn a tenth shorter or longer. */
export interface SettlementTiming {
  /** From one look for work that is due to the next. */
  readonly roundMs: number;
  /** The first looks at an intent nobody has paid; later ones come after `watchGrowth` of its age, at most `watchCapMs`. */
  readonly watchFirstMs: number;
  readonly watchGrowth: number;
  readonly watchCapMs: number;
  /** From the first failure of a hook to its next call; doubled each time, at most `retryCapMs`. */
  readonly retryFirstMs: number;
  readonly retryCapMs: number;
  /** From `onPaid` to the first look whether the payment was taken back; the next come at twice the age. */
  readonly reversalFirstMs: number;
  /** A payment is taken back when the sequencer says so twice, so long apart. */
  readonly doubtMs: number;
  /** How long claimed work stays a process's own without a word from it. */
  readonly leaseMs: number;
  /** How many hooks a process calls at once: each holds a connection until it has ended. */
  readonly hooksAtOnce: number;
  /** How long work that runs may take to end when the ledger is closed. */
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
  doubtMs: 10_000,
  leaseMs: 30_000,
  // Under the connections of a pool, so that hooks never take the last one.
  hooksAtOnce: 6,
  closeMs: 5_000,
});

/** The longest interval of what was written down while the clock of the database was ahead, so that its age is not known. */
const longestOfFutureMs = 15 * 60_000;

/** From a look at an intent that nobody has paid to the next, by its age: the older it is, the later. In milliseconds. */
export function untilNextLookMs(ageMs: number, timing: SettlementTiming): number {
  const { watchFirstMs, watchGrowth, watchCapMs } = timing;
  if (ageMs < 0) return Math.min(Math.max(watchFirstMs, watchGrowth * -ageMs), longestOfFutureMs);
  return Math.min(Math.max(watchFirstMs, watchGrowth * ageMs), watchCapMs);
}

/** From a look whether a payment was taken back to the next, by the time since it has settled; undefined after the last. */
export function untilReversalLookMs(
  settledAgoMs: number,
  reversalWatchMs: number,
  { reversalFirstMs }: SettlementTiming,
): number | undefined {
  if (settledAgoMs < 0) return Math.min(Math.max(reversalFirstMs, -settledAgoMs), reversalWatchMs);
  return settledAgoMs < reversalWatchMs ? Math.max(reversalFirstMs, settledAgoMs) : undefined;
}
