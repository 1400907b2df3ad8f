import { withTimeout } from '../../async/timeout.js';

/** The value of a probe, why it failed, or `timeout` when the caller's wait ended first. */
export type ProbeOutcome<Value> = { readonly value: Value } | { readonly error: unknown } | 'timeout';

export interface CachedProbeOptions<Value> {
  readonly run: () => Promise<Value>;
  /** How long an outcome counts, in milliseconds. */
  readonly keepMs: number;
  /** How long a caller waits at most, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * One probe for all callers, however many and however often they ask.
 *
 * - stale: the next caller starts the probe.
 * - running: callers share the probe, each for at most `timeoutMs`. It continues after their timeouts.
 * - fresh: for `keepMs` after the probe ended, callers get its outcome.
 */
export class CachedProbe<Value> {
  readonly #options: CachedProbeOptions<Value>;
  #running: Promise<ProbeOutcome<Value>> | undefined;
  #last: ProbeOutcome<Value> | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #succeededAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: CachedProbeOptions<Value>) {
    this.#options = options;
  }

  /** Milliseconds since the last success. */
  get succeededMsAgo(): number {
    return performance.now() - this.#succeededAtMs;
  }

  async get(): Promise<ProbeOutcome<Value>> {
    const { keepMs, timeoutMs } = this.#options;
    if (this.#last && performance.now() - this.#lastAtMs < keepMs) return this.#last;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    const running = this.#running;
    return withTimeout(timeoutMs, () => running).catch((): 'timeout' => 'timeout');
  }

  async #run(): Promise<ProbeOutcome<Value>> {
    try {
      this.#last = { value: await this.#options.run() };
      this.#succeededAtMs = performance.now();
    } catch (error) {
      this.#last = { error };
    }
    this.#lastAtMs = performance.now();
    return this.#last;
  }
}
