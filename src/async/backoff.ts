export interface BackoffOptions {
  /** The first delay is at most this long, in milliseconds; each one after it may be twice as long. */
  readonly baseMs: number;
  /** No delay is longer, in milliseconds. */
  readonly capMs: number;
  /** 0 up to but not 1. */
  readonly random: () => number;
}

/** However the dice fall, nothing is tried again at once. In milliseconds. */
const leastMs = 50;

/**
 * Delays between tries: exponential, with full jitter, so that the clients of a service that was down do not all come
 * back at the same moment.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #tries = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The next delay, in milliseconds. */
  nextMs(): number {
    const { baseMs, capMs, random } = this.#options;
    const longestMs = Math.min(capMs, baseMs * 2 ** this.#tries);
    this.#tries += 1;
    return Math.max(leastMs, longestMs * random());
  }

  /** It went well: the next delay is as short as the first. */
  reset(): void {
    this.#tries = 0;
  }
}
