import { withTimeout } from '../../async/timeout.js';

/** What a look has come to: what was found, why nothing was, or neither within its time. */
export type CheckOutcome<Found> = { readonly found: Found } | { readonly error: unknown } | 'late';

export interface SharedCheckOptions<Found> {
  readonly look: () => Promise<Found>;
  /** For how long what was found counts, or that nothing was, in milliseconds. */
  readonly keepMs: number;
  /** How long whoever asks waits at most, in milliseconds. */
  readonly boundMs: number;
}

/**
 * One look at something for all who ask, however many and however often: never two at a time, and no new one while the last
 * counts. A look that takes longer than anybody waits goes on, and tells those who ask later.
 */
export class SharedCheck<Found> {
  readonly #options: SharedCheckOptions<Found>;
  #running: Promise<CheckOutcome<Found>> | undefined;
  #last: CheckOutcome<Found> | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #foundAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedCheckOptions<Found>) {
    this.#options = options;
  }

  /** Since something was found, in milliseconds. */
  get foundMsAgo(): number {
    return performance.now() - this.#foundAtMs;
  }

  async ask(): Promise<CheckOutcome<Found>> {
    const { keepMs, boundMs } = this.#options;
    if (this.#last && performance.now() - this.#lastAtMs < keepMs) return this.#last;
    const running = this.#running ?? this.#look();
    return withTimeout(boundMs, () => running).catch((): 'late' => 'late');
  }

  #look(): Promise<CheckOutcome<Found>> {
    const note = (outcome: CheckOutcome<Found>): CheckOutcome<Found> => {
      this.#running = undefined;
      this.#last = outcome;
      this.#lastAtMs = performance.now();
      if (outcome !== 'late' && 'found' in outcome) this.#foundAtMs = this.#lastAtMs;
      return outcome;
    };
    this.#running = this.#options.look().then(
      (found) => note({ found }),
      (error: unknown) => note({ error }),
    );
    return this.#running;
  }
}
