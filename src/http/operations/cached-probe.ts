import { withTimeout } from '../../async/timeout.js';

/** The value of a probe, its error, or `timeout` if the caller stopped waiting first. */
export type ProbeOutcome<Value> = { readonly value: Value } | { readonly error: unknown } | 'timeout';

export interface CachedProbeOptions<Value> {
  readonly run: () => Promise<Value>;
  readonly ttlMs: number;
  readonly timeoutMs: number;
}

/**
 * One probe for all callers.
 *
 * - stale: the next caller starts the probe.
 * - running: callers share the probe, each for at most `timeoutMs`. It continues after their timeouts.
 * - fresh: for `ttlMs` after the probe, callers get its outcome.
 */
export class CachedProbe<Value> {
  readonly #options: CachedProbeOptions<Value>;
  #running: Promise<ProbeOutcome<Value>> | undefined;
  #last: ProbeOutcome<Value> | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #hasSucceeded = false;
  /** The start of the first probe after the last success. */
  #unansweredSinceMs: number | undefined;

  constructor(options: CachedProbeOptions<Value>) {
    this.#options = options;
  }

  /** The time since the first probe after the last success; 0 if no probe followed it. Infinite before the first success. */
  get unansweredMs(): number {
    if (!this.#hasSucceeded) return Number.POSITIVE_INFINITY;
    return this.#unansweredSinceMs === undefined ? 0 : performance.now() - this.#unansweredSinceMs;
  }

  async get(): Promise<ProbeOutcome<Value>> {
    const { ttlMs, timeoutMs } = this.#options;
    if (this.#last && performance.now() - this.#lastAtMs < ttlMs) return this.#last;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    const running = this.#running;
    return withTimeout(timeoutMs, () => running).catch((): 'timeout' => 'timeout');
  }

  async #run(): Promise<ProbeOutcome<Value>> {
    this.#unansweredSinceMs ??= performance.now();
    try {
      this.#last = { value: await this.#options.run() };
      this.#hasSucceeded = true;
      this.#unansweredSinceMs = undefined;
    } catch (error) {
      this.#last = { error };
    }
    this.#lastAtMs = performance.now();
    return this.#last;
  }
}
