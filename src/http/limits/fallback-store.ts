import type { IncrementResponse, Options, Store } from 'express-rate-limit';
import { withTimeout } from '../../async/timeout.js';
import type { Logger } from '../response/logger.js';
import type { AddressCounts } from './memory-store.js';

/** What counts a request may not hold it up, in milliseconds. */
const timeoutMs = 500;
/** How long a store that failed is left alone. */
const awayMs = 10_000;

export interface SteadyStoreOptions {
  readonly shared: Store;
  /** What counts while the shared store does not. */
  readonly own: AddressCounts;
  readonly logger: Logger;
  readonly now: () => number;
  /** What is known of the shared store by all who count in it. */
  readonly known: StoreState;
}

export interface StoreState {
  /** Until then it is left alone. */
  backAtMs: number;
  /** Whether it was told that it fails. */
  isTold: boolean;
}

/**
 * The site's store, which counts for all its processes, and the counts of this process while that one is down. So a
 * store that fails neither opens the door nor closes the shop: each process then lets in as many as all together did.
 */
export class SteadyStore implements Store {
  readonly localKeys = false;
  readonly #options: SteadyStoreOptions;

  constructor(options: SteadyStoreOptions) {
    this.#options = options;
  }

  async init(options: Options): Promise<void> {
    try {
      await this.#options.shared.init?.(options);
    } catch (error) {
      this.#leave(error);
    }
  }

  async increment(key: string): Promise<IncrementResponse> {
    const { shared, own } = this.#options;
    const count = await this.#ask(async () => requireCount(await shared.increment(key)));
    return count ?? own.increment(key);
  }

  async decrement(key: string): Promise<void> {
    const { shared, own } = this.#options;
    own.decrement(key);
    await this.#ask(async () => shared.decrement(key));
  }

  async resetKey(key: string): Promise<void> {
    const { shared, own } = this.#options;
    own.resetKey(key);
    await this.#ask(async () => shared.resetKey(key));
  }

  /** Undefined where the store fails, or has just failed. */
  async #ask<Answer>(work: () => Promise<Answer>): Promise<Answer | undefined> {
    if (this.#options.now() < this.#options.known.backAtMs) return undefined;
    try {
      const answer = await withTimeout(timeoutMs, work);
      this.#tellBack();
      return answer;
    } catch (error) {
      this.#leave(error);
      return undefined;
    }
  }

  #leave(error: unknown): void {
    const { logger, now, known } = this.#options;
    // Of all that were under way, the first tells it.
    if (now() < known.backAtMs) return;
    known.backAtMs = now() + awayMs;
    if (known.isTold) return;
    known.isTold = true;
    const reason = error instanceof Error ? error.message : String(error);
    logger.error(`express-intents: the store of the rate limits fails, so each process counts for itself: ${reason}`);
  }

  #tellBack(): void {
    const { logger, known } = this.#options;
    if (!known.isTold) return;
    known.isTold = false;
    logger.warn('express-intents: the store of the rate limits counts again for all processes.');
  }
}

/** A store that answers rubbish would let everybody in. */
function requireCount(count: IncrementResponse): IncrementResponse {
  if (Number.isSafeInteger(count?.totalHits) && count.totalHits > 0) return count;
  throw new Error('it gives no number of requests.');
}
