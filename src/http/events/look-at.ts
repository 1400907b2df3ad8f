import type { Logger } from '../response/logger.js';

export interface LookAtOptions {
  /** Asks the service for the status of an intent. */
  readonly ask: (id: string) => Promise<unknown>;
  readonly logger: Logger;
  /** How many are asked for at once. Default 4. */
  readonly concurrency?: number;
  /** How many wait at most. Default 1,000. */
  readonly capacity?: number;
}

/** Takes the hint that something happened to an intent, by its id; returns at once and never throws. */
export type LookAt = (id: string) => void;

/**
 * Asks for the status of the intents that somebody hinted at, however fast the hints come: few at once, each waiting
 * only once. A hint at what is being asked for just now is asked for once more, since the answer may be from before. What
 * does not fit is dropped: a hint can always be lost, so nothing may depend on one.
 */
export function createLookAt({ ask, logger, concurrency = 4, capacity = 1_000 }: LookAtOptions): LookAt {
  const waiting = new Set<string>();
  const asking = new Set<string>();

  async function look(id: string): Promise<void> {
    asking.add(id);
    try {
      await ask(id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn(`express-intents: the status of ${id} could not be asked for after a webhook call: ${reason}`);
    }
    asking.delete(id);
    next();
  }

  function next(): void {
    for (const id of waiting) {
      if (asking.size >= concurrency) return;
      if (asking.has(id)) continue;
      waiting.delete(id);
      void look(id);
    }
  }

  return (id) => {
    if (waiting.size >= capacity) return;
    waiting.add(id);
    next();
  };
}
