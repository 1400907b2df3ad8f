export interface BackoffOptions {
  readonly firstMs: number;
  /** The longest delay, in milliseconds. Default: no limit. */
  readonly capMs?: number | undefined;
  /** The ratio of a delay to the previous one. Default 2. */
  readonly factor?: number | undefined;
}

/** Exponential backoff without jitter: the delay before a retry, in milliseconds. The first retry is number 0. */
export function exponentialBackoffMs(
  { firstMs, capMs = Number.POSITIVE_INFINITY, factor = 2 }: BackoffOptions,
  retry: number,
): number {
  return Math.min(capMs, firstMs * factor ** retry);
}

/**
 * Adds jitter to a delay, so clients do not all reconnect at the same moment after an outage.
 * @param spread the random share of the delay: 1 is full jitter, 0.5 keeps the first half fixed
 */
export function jitteredMs(delayMs: number, spread: number, random: () => number = Math.random): number {
  return delayMs * (1 - spread + spread * random());
}

export interface JitteredBackoffOptions extends BackoffOptions {
  /** See `jitteredMs`. Default 1. */
  readonly spread?: number | undefined;
  /** The shortest delay, in milliseconds. Default 50. */
  readonly minMs?: number | undefined;
  /** Returns a number from 0 up to, but not including, 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** Exponential backoff with jitter. Counts the retries since the last success. */
export class Backoff {
  readonly #options: JitteredBackoffOptions;
  #retries = 0;

  constructor(options: JitteredBackoffOptions) {
    this.#options = options;
  }

  nextMs(): number {
    const { spread = 1, minMs = 50, random } = this.#options;
    const delayMs = exponentialBackoffMs(this.#options, this.#retries);
    this.#retries += 1;
    return Math.max(minMs, jitteredMs(delayMs, spread, random));
  }

  /** Call after a success: the next delay is the first one again. */
  reset(): void {
    this.#retries = 0;
  }
}
