import type { IncrementResponse, Options, Store } from 'express-rate-limit';
import { BoundedMap } from '../../async/bounded-map.js';
import { withTimeout } from '../../async/timeout.js';
import { messageOf } from '../../errors.js';
import type { Logger } from '../logger.js';

interface Count {
  hits: number;
  readonly resetTime: Date;
}

/** The memory store of express-rate-limit has no bound. */
const capacity = 20_000;

/** Counts the requests of this process, by key and window, for 20,000 keys: the oldest makes room. */
export class MemoryStore implements Store {
  readonly localKeys = true;
  readonly #counts: BoundedMap<Count>;
  readonly #endOfWindow: () => Date;

  constructor(windowMs: number, now: () => number) {
    this.#counts = new BoundedMap({ ttlMs: windowMs, capacity, now });
    this.#endOfWindow = () => new Date(now() + windowMs);
  }

  /** Keys with a count. */
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

/** Bound of one call to the shared store, in milliseconds: a request waits for it. */
const timeoutMs = 500;
/** How long no call goes to a store that failed, in milliseconds. */
const retryAfterMs = 10_000;

/**
 * Whether the shared store of a router works. All limits of the router share one.
 *
 * - up: calls go to the store. A failure takes it down, which is logged.
 * - paused: down for the first ten seconds after a failure. No call goes to the store, and the result of a call that was
 *   running at the failure changes nothing.
 * - retrying: down, and calls go to the store again. A failure pauses it again; a success takes it up, which is logged.
 */
export class SharedStoreState {
  readonly #logger: Logger;
  readonly #now: () => number;
  #retryAtMs = 0;
  #isDown = false;

  constructor(logger: Logger, now: () => number) {
    this.#logger = logger;
    this.#now = now;
  }

  get isPaused(): boolean {
    return this.#now() < this.#retryAtMs;
  }

  failed(error: unknown): void {
    if (this.isPaused) return;
    this.#retryAtMs = this.#now() + retryAfterMs;
    if (this.#isDown) return;
    this.#isDown = true;
    const message = `the rate limit store failed, so each process counts for itself: ${messageOf(error)}`;
    this.#logger.error(`express-intents: ${message}`);
  }

  succeeded(): void {
    if (!this.#isDown || this.isPaused) return;
    this.#isDown = false;
    this.#logger.warn('express-intents: the rate limit store works again and counts for all processes.');
  }
}

/**
 * Counts in the site's store for all processes, and in the memory of this process while that store is down. A failing store
 * neither opens the door nor closes the shop: each process then admits as many as all of them did together.
 */
export class FallbackStore implements Store {
  readonly localKeys = false;
  readonly #shared: Store;
  readonly #local: MemoryStore;
  readonly #state: SharedStoreState;

  constructor(shared: Store, local: MemoryStore, state: SharedStoreState) {
    this.#shared = shared;
    this.#local = local;
    this.#state = state;
  }

  async init(options: Options): Promise<void> {
    try {
      await this.#shared.init?.(options);
    } catch (error) {
      this.#state.failed(error);
    }
  }

  async increment(key: string): Promise<IncrementResponse> {
    const count = await this.#callShared(async () => requireCount(await this.#shared.increment(key)));
    return count ?? this.#local.increment(key);
  }

  async decrement(key: string): Promise<void> {
    this.#local.decrement(key);
    await this.#callShared(async () => this.#shared.decrement(key));
  }

  async resetKey(key: string): Promise<void> {
    this.#local.resetKey(key);
    await this.#callShared(async () => this.#shared.resetKey(key));
  }

  /** Undefined while the store is paused, and when the call fails. */
  async #callShared<Result>(call: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#state.isPaused) return undefined;
    try {
      const result = await withTimeout(timeoutMs, call);
      this.#state.succeeded();
      return result;
    } catch (error) {
      this.#state.failed(error);
      return undefined;
    }
  }
}

/** A count that is not a number would admit every request. */
function requireCount(count: IncrementResponse): IncrementResponse {
  if (Number.isSafeInteger(count?.totalHits) && count.totalHits > 0) return count;
  throw new Error('increment did not return totalHits, a whole number over 0.');
}
