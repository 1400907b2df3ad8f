import { setTimeout as wait } from 'node:timers/promises';
import { buildIndexes } from './build-indexes.js';
import type { Database } from './database.js';
import { errorDetails } from './error-text.js';
import type { LedgerLogger } from './settlement-context.js';

/** From one failure to the next try, in milliseconds: doubled each time up to the second. */
const retryMs = { first: 5_000, longest: 600_000 } as const;

/** Builds the indexes that are missing beside a site that runs without them, again and again until they are there. Never rejects. */
export async function keepIndexes(db: Database, logger: LedgerLogger, signal: AbortSignal): Promise<void> {
  for (let waitMs: number = retryMs.first; !signal.aborted; waitMs = Math.min(waitMs * 2, retryMs.longest)) {
    try {
      await buildIndexes(db, { signal });
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (waitMs === retryMs.first) {
        logger.warn(
          'express-intents: an index of the ledger cannot be built, and is tried again. Without it all is right and some is slow.',
          { message: errorDetails(error).message },
        );
      }
      await wait(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
