import type { BatchFailure } from '../../async/batcher.js';
import { IntentError } from '../../errors.js';
import { DatabaseOutage, ledgerUnavailable, sqlStateOf } from './database-fault.js';

/** The options of a `Batcher` whose batches are statements. */
export const batchOptions = {
  maxItems: 64,
  maxRunning: 2,
  classifyFailure,
  timeoutMs: 5_000,
  timeoutError: () =>
    ledgerUnavailable(
      'The database is too slow: an intent waited more than 5 s to be written. Check its load and locks',
    ),
};

/**
 * With an SQLSTATE the database has rejected the statement, so it wrote nothing. After any other error it may be committed.
 * Class 42, such as a missing table or privilege, affects every item.
 */
function classifyFailure(error: unknown): BatchFailure {
  if (error instanceof DatabaseOutage) return 'outage';
  const state = error instanceof IntentError ? undefined : sqlStateOf(error);
  return state === undefined || state.startsWith('42') ? 'batch' : 'item';
}
