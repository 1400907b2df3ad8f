import { IntentError } from '../../errors.js';
import type { EventHub } from '../events/event-hub.js';
import type { Handler } from '../router-context.js';

/** Whoever comes again after this, in milliseconds, comes over another connection, and so to another process. */
const comeAgainMs = 1_000;

/**
 * Refuses with `closing` once the router is closed, before anything is counted or begun. What was begun before is answered.
 * It throws what `sendProblem` makes an answer of.
 */
export function whileOpen(events: EventHub): (handler: Handler) => Handler {
  return (handler) => (req, res, path) => {
    if (events.isClosed) throw new IntentError('closing', undefined, { retryAfterMs: comeAgainMs });
    return handler(req, res, path);
  };
}
