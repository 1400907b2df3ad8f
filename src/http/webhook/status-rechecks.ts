import { messageOf, withPeriod } from '../../errors.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';
import type { Logger } from '../logger.js';

export interface StatusRechecksOptions {
  readonly statusCache: StatusCache;
  readonly logger: Logger;
  readonly concurrency?: number | undefined;
  readonly capacity?: number | undefined;
}

/**
 * Reads the status of intents after webhook calls, with limited concurrency.
 *
 * - waiting: added and queued once.
 * - running: its status is being read. If added now, it is queued again, because the response may be older than the call.
 *
 * Intents beyond the capacity are dropped: a lost recheck only delays the detection of a change.
 */
export class StatusRechecks {
  readonly #statusCache: StatusCache;
  readonly #logger: Logger;
  readonly #concurrency: number;
  readonly #capacity: number;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();

  constructor({ statusCache, logger, concurrency = 4, capacity = 1_000 }: StatusRechecksOptions) {
    this.#statusCache = statusCache;
    this.#logger = logger;
    this.#concurrency = concurrency;
    this.#capacity = capacity;
  }

  /** Returns immediately and never throws: false if the intent was dropped. */
  add(id: string): boolean {
    if (this.#waiting.size >= this.#capacity && !this.#waiting.has(id)) return false;
    this.#waiting.add(id);
    this.#runNext();
    return true;
  }

  #runNext(): void {
    for (const id of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return;
      if (this.#running.has(id)) continue;
      this.#waiting.delete(id);
      void this.#run(id);
    }
  }

  async #run(id: string): Promise<void> {
    this.#running.add(id);
    try {
      await this.#statusCache.get(id, { bypassCache: true, source: 'webhook' });
    } catch (error) {
      const reason = withPeriod(messageOf(error));
      this.#logger.warn(
        `express-intents: cannot read the status of ${id} after a webhook call: ${reason} The ledger or an open page polls it.`,
      );
    }
    this.#running.delete(id);
    this.#runNext();
  }
}
