import { IntentError } from '../../errors.js';

export interface AdaptiveLimitOptions {
  readonly max: number;
  /** In milliseconds, for tests. Default: `performance.now`. */
  readonly now?: () => number;
}

const firstLimit = 8;
/** Above this many times the best latency, the service counts as overloaded. */
const slowFactor = 2;
/** The weight of one call in the smoothed latency, so that a single slow call changes little. */
const weight = 0.1;
/** A latency below this never counts as slow, in milliseconds. */
const slowFromMs = 20;
const decrease = 0.7;

/**
 * Limits how many calls run at once. Unlike a `Semaphore`, it adapts the number of permits to the capacity of the
 * service (additive increase, multiplicative decrease, as in TCP):
 *
 *     rising   -- a call succeeds at the limit ----> limit + 1, which doubles it in each round of calls
 *     rising   -- a call fails or is slow ---------> limit x 0.7, steady
 *     steady   -- a round of calls succeeds -------> limit + 1
 *     steady   -- a call fails or is slow ---------> limit x 0.7, once in each round of calls
 *     any      -- the limit falls to 1 ------------> rising, for a fast recovery after an outage
 *
 * Slow means that the smoothed latency is more than twice the best one. At a limit of 1 the best latency is measured again,
 * because single calls show the latency of the service without load.
 */
export class AdaptiveLimit {
  readonly #max: number;
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #limit: number;
  #running = 0;
  #isRising = true;
  #smoothMs = 0;
  #bestMs = Number.POSITIVE_INFINITY;
  #decreasedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ max, now = () => performance.now() }: AdaptiveLimitOptions) {
    this.#max = max;
    this.#now = now;
    this.#limit = Math.min(firstLimit, max);
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** @throws the signal's reason if it is aborted before the call starts @throws what `call` throws */
  async run<Value>(signal: AbortSignal, call: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.#running < this.limit) this.#running += 1;
    else await this.#waitForTurn(signal);
    const isFull = this.#running >= this.limit;
    const startedAtMs = this.#now();
    try {
      const value = await call();
      this.#note(startedAtMs, isFull);
      return value;
    } catch (error) {
      if (isServiceFailure(error) && !signal.aborted) this.#lower(startedAtMs);
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
    else if (isFull) this.#limit = Math.min(this.#max, this.#limit + (this.#isRising ? 1 : 1 / this.#limit));
  }

  /** Ignores calls that started before the last decrease. */
  #lower(startedAtMs: number): void {
    if (startedAtMs < this.#decreasedAtMs) return;
    this.#decreasedAtMs = this.#now();
    this.#limit = Math.max(1, this.#limit * decrease);
    this.#isRising = this.#limit === 1;
  }

  #waitForTurn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
      };
      const enter = (): void => {
        leaveQueue();
        this.#running += 1;
        resolve();
      };
      const giveUp = (): void => {
        leaveQueue();
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

/** Whether the service itself failed, and not the request for one intent. */
function isServiceFailure(error: unknown): boolean {
  return error instanceof IntentError && (error.code.startsWith('sequencer_') || error.code === 'too_busy');
}
