import { messageOf } from '../../errors.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';
import type { Logger } from '../logger.js';

export interface StatusRechecksOptions {
  readonly statusCache: StatusCache;
  readonly logger: Logger;
  /** How many calls run at once. Default 4. */
  readonly concurrency?: number | undefined;
  /** How many intents wait at most. Default 1,000. */
  readonly capacity?: number | undefined;
}

/**
 * Reads the status of the intents that webhook calls name, however fast the calls come.
 *
 * - waiting: added, once however often.
 * - running: its status is read. When it is added now, it waits for one more read, because the answer may be older.
 *
 * An intent that does not fit is dropped. A recheck may be lost: nothing depends on it but how soon a change is known.
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

  /** Returns at once and never throws. */
  add(id: string): void {
    if (this.#waiting.size >= this.#capacity) return;
    this.#waiting.add(id);
    this.#runNext();
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
      this.#logger.warn(
        `express-intents: the status of ${id} could not be asked for after a webhook call: ${messageOf(error)}`,
      );
    }
    this.#running.delete(id);
    this.#runNext();
  }
}
