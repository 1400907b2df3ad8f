export interface BackoffOptions {
  /** The first delay, in milliseconds. */
  readonly firstMs: number;
  /** The longest delay, in milliseconds. Default: none is too long. */
  readonly capMs?: number | undefined;
  /** Each delay is this many times the one before. Default 2. */
  readonly factor?: number | undefined;
}

/** Exponential backoff without jitter: the delay before retry `retry`, in milliseconds. 0 is the first retry. */
export function exponentialBackoffMs(
  { firstMs, capMs = Number.POSITIVE_INFINITY, factor = 2 }: BackoffOptions,
  retry: number,
): number {
  return Math.min(capMs, firstMs * factor ** retry);
}

/**
 * A random part of a delay, so that clients of a service that was down do not all come back at the same moment.
 * @param spread how much of the delay is random: with 1 all of it (full jitter), with 0.5 the second half
 */
export function jitteredMs(delayMs: number, spread: number, random: () => number = Math.random): number {
  return delayMs * (1 - spread + spread * random());
}

export interface JitteredBackoffOptions extends BackoffOptions {
  /** As that of `jitteredMs`. Default 1. */
  readonly spread?: number | undefined;
  /** No delay is shorter, in milliseconds. Default 50: nothing is retried at once. */
  readonly leastMs?: number | undefined;
  /** 0 up to but not 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** The delays between retries: exponential, with jitter. It counts the retries since the last success. */
export class Backoff {
  readonly #options: JitteredBackoffOptions;
  #retries = 0;

  constructor(options: JitteredBackoffOptions) {
    this.#options = options;
  }

  /** The next delay, in milliseconds. */
  nextMs(): number {
    const { spread = 1, leastMs = 50, random } = this.#options;
    const delayMs = exponentialBackoffMs(this.#options, this.#retries);
    this.#retries += 1;
    return Math.max(leastMs, jitteredMs(delayMs, spread, random));
  }

  /** After a success: the next delay is as short as the first. */
  reset(): void {
    this.#retries = 0;
  }
}
