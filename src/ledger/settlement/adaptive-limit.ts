import { IntentError } from '../../errors.js';

export interface AdaptiveLimitOptions {
  /** The limit never rises above this. */
  readonly most: number;
  /** In milliseconds, for tests. Default: `performance.now`. */
  readonly now?: () => number;
}

/** Where the limit starts. */
const firstLimit = 8;
/** A latency of so many times the best means that the service is overloaded. */
const slowFactor = 2;
/** The weight of one call in the smoothed latency, so that a single slow call changes little. */
const weight = 0.1;
/** Below this, twice the latency means nothing. */
const slowFromMs = 20;
const decrease = 0.7;

/**
 * Limits how many calls run at once, and adapts the limit to the capacity of the service (additive increase, multiplicative
 * decrease, as TCP does it):
 *
 *     rising   -- a call succeeds at the limit ----------------> limit + 1: it doubles with each round of calls
 *     rising   -- a call fails or is slow ---------------------> limit x 0.7, steady
 *     steady   -- a round of calls succeeds -------------------> limit + 1
 *     steady   -- a call fails or is slow ---------------------> limit x 0.7, once in each round of calls
 *     any      -- the limit has come down to 1 ----------------> rising, so it recovers at once after an outage
 *
 * Slow means that the smoothed latency is twice the best one. A single call shows the latency of the service itself, so at a
 * limit of 1 the best is measured again.
 */
export class AdaptiveLimit {
  readonly #most: number;
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #limit: number;
  #running = 0;
  #isRising = true;
  #smoothMs = 0;
  #bestMs = Number.POSITIVE_INFINITY;
  #decreasedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ most, now = () => performance.now() }: AdaptiveLimitOptions) {
    this.#most = most;
    this.#now = now;
    this.#limit = Math.min(firstLimit, most);
  }

  /** How many calls may run at once now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** @throws the signal's reason when it is aborted before the call may run @throws what `call` throws */
  async run<Value>(signal: AbortSignal, call: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.#running < this.limit) this.#running += 1;
    else await this.#turn(signal);
    const isFull = this.#running >= this.limit;
    const startedAtMs = this.#now();
    try {
      const value = await call();
      this.#note(startedAtMs, isFull);
      return value;
    } catch (error) {
      if (isOfService(error) && !signal.aborted) this.#lower(startedAtMs);
      throw error;
    } finally {
      this.#running -= 1;
      for (const enter of this.#waiting) {
        if (this.#running >= this.limit) break;
        enter();
      }
    }
  }

  #note(startedAtMs: number, isFull: boolean): void {
    const tookMs = this.#now() - startedAtMs;
    const isFirst = this.#bestMs === Number.POSITIVE_INFINITY;
    this.#smoothMs = isFirst || this.limit === 1 ? tookMs : this.#smoothMs + weight * (tookMs - this.#smoothMs);
    this.#bestMs = this.limit === 1 ? tookMs : Math.min(this.#bestMs, this.#smoothMs);
    if (this.#smoothMs > Math.max(slowFromMs, slowFactor * this.#bestMs)) this.#lower(startedAtMs);
    else if (isFull) this.#limit = Math.min(this.#most, this.#limit + (this.#isRising ? 1 : 1 / this.#limit));
  }

  /** Ignores calls that started before the last decrease. */
  #lower(startedAtMs: number): void {
    if (startedAtMs < this.#decreasedAtMs) return;
    this.#decreasedAtMs = this.#now();
    this.#limit = Math.max(1, this.#limit * decrease);
    this.#isRising = this.#limit === 1;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
      };
      const enter = (): void => {
        leaveLine();
        this.#running += 1;
        resolve();
      };
      const giveUp = (): void => {
        leaveLine();
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

/** Whether the service failed, as opposed to one intent. */
function isOfService(error: unknown): boolean {
  return error instanceof IntentError && (error.code.startsWith('sequencer_') || error.code === 'too_busy');
}
