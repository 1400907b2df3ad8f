import type { IncrementResponse, Options, Store } from 'express-rate-limit';
import { BoundedMap } from '../../async/bounded-map.js';
import { withTimeout } from '../../async/timeout.js';
import { messageOf, withPeriod } from '../../errors.js';
import type { Logger } from '../logger.js';

interface Count {
  hits: number;
  /** By the monotonic clock. */
  readonly endsAtMs: number;
}

export interface Clocks {
  /** The system clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicNow: () => number;
}

/** The memory store of express-rate-limit has no bound. */
const capacity = 20_000;

/** Counts the requests of this process by key and window. Holds 20,000 keys; the oldest is dropped. */
export class MemoryStore implements Store {
  readonly localKeys = true;
  readonly #counts: BoundedMap<Count>;
  readonly #windowMs: number;
  readonly #clocks: Clocks;

  constructor(windowMs: number, clocks: Clocks) {
    this.#counts = new BoundedMap({ ttlMs: windowMs, capacity, now: clocks.monotonicNow });
    this.#windowMs = windowMs;
    this.#clocks = clocks;
  }

  /** For tests. */
  get size(): number {
    return this.#counts.size;
  }

  increment(key: string): IncrementResponse {
    const { now, monotonicNow } = this.#clocks;
    const count = this.#counts.get(key) ?? { hits: 0, endsAtMs: monotonicNow() + this.#windowMs };
    if (count.hits === 0) this.#counts.set(key, count);
    count.hits += 1;
    return { totalHits: count.hits, resetTime: new Date(now() + count.endsAtMs - monotonicNow()) };
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

/** Timeout of a call to the shared store, in milliseconds. A request waits for the call. */
const timeoutMs = 500;
/** How long a failed store is not called, in milliseconds. */
const pauseMs = 10_000;

/**
 * The state of the shared store. All limits of a router use the same store.
 *
 * - up: the store is called. A failure is logged and pauses it.
 * - paused: for ten seconds after a failure the store is not called. Calls already running do not change the state.
 * - retrying: the store is called again. A failure pauses it again. A success is logged and returns it to up.
 */
export class SharedStoreState {
  readonly #logger: Logger;
  readonly #monotonicNow: () => number;
  #failedAtMs: number | undefined;

  constructor(logger: Logger, { monotonicNow }: Clocks) {
    this.#logger = logger;
    this.#monotonicNow = monotonicNow;
  }

  get isPaused(): boolean {
    return this.#failedAtMs !== undefined && this.#monotonicNow() - this.#failedAtMs < pauseMs;
  }

  failed(error: unknown): void {
    if (this.isPaused) return;
    const wasUp = this.#failedAtMs === undefined;
    this.#failedAtMs = this.#monotonicNow();
    if (!wasUp) return;
    const message = `the rate limit store failed: ${withPeriod(messageOf(error))}`;
    const fix = 'Until it recovers, each process counts separately. Check `limits.store`.';
    this.#logger.error(`express-intents: ${message} ${fix}`);
  }

  succeeded(): void {
    if (this.#failedAtMs === undefined || this.isPaused) return;
    this.#failedAtMs = undefined;
    this.#logger.warn('express-intents: the rate limit store has recovered. All processes share its counts again.');
  }
}

/** Counts in the site's shared store. While that store is down, in the memory of this process, with the same limit. */
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

  /** Undefined if the store is paused or the call fails. */
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

/** A count that is not a number would allow every request. */
function requireCount(count: IncrementResponse): IncrementResponse {
  if (Number.isSafeInteger(count?.totalHits) && count.totalHits > 0) return count;
  throw new Error('increment() must return totalHits as a positive integer.');
}
