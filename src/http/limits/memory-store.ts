import type { IncrementResponse, Store } from 'express-rate-limit';
import { BoundedMap } from '../../async/bounded-map.js';

/** The library's own store in memory has no bound. */
const capacity = 20_000;

interface Count {
  hits: number;
  readonly resetTime: Date;
}

/** How often each address came within its window, in this process: of 20,000 addresses, and then the oldest makes room. */
export class AddressCounts implements Store {
  readonly localKeys = true;
  readonly #counts: BoundedMap<Count>;
  readonly #endOfWindow: () => Date;

  constructor(windowMs: number, now: () => number) {
    this.#counts = new BoundedMap({ ttlMs: windowMs, capacity, now });
    this.#endOfWindow = () => new Date(now() + windowMs);
  }

  /** Of how many addresses something is counted. */
  get size(): number {
    return this.#counts.size;
  }

  increment(key: string): IncrementResponse {
    const count = this.#counts.get(key) ?? { hits: 0, resetTime: this.#endOfWindow() };
    if (count.hits === 0) this.#counts.set(key, count);
    count.hits += 1;
    return { totalHits: count.hits, resetTime: count.resetTime };
  }

  decrement(key: string): void {
    const count = this.#counts.get(key);
    if (count && count.hits > 1) count.hits -= 1;
    else this.#counts.delete(key);
  }

  resetKey(key: string): void {
    this.#counts.delete(key);
  }
}
