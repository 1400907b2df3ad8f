/** Tries that each call earns for those to come. */
const perCall = 0.2;
/** Tries that are earned each second all the same: on a quiet site every call may be repeated. */
const perSecond = 0.2;
/** More is never saved up. */
const burst = 10;

/** How often may be tried again: a token bucket that keeps the load on the service under 1.2 times the calls. */
export class RetryBudget {
  #tokens = burst;
  #countedAtMs = performance.now();

  /** A call is sent for the first time. */
  earn(): void {
    this.#tokens = Math.min(burst, this.#tokens + perCall);
  }

  /** Whether a try may be repeated; then it is counted. */
  spend(): boolean {
    const nowMs = performance.now();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1_000) * perSecond);
    this.#countedAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
