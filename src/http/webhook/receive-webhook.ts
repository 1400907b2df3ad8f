import type { Request } from 'express';
import { BoundedMap } from '../../async/bounded-map.js';
import { IntentError } from '../../errors.js';
import type { Logger } from '../logger.js';
import { readJwt } from '../request/read-body.js';
import { requestIdOf } from '../request/request-id.js';
import { sendEmpty } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { StatusRechecks } from './status-rechecks.js';
import type { WebhookVerifier } from './verify-webhook.js';

const seenTtlMs = 3_600_000;
const seenCapacity = 10_000;
const warningIntervalMs = 60_000;

/**
 * `POST /intent/webhook`: a signed call of the service causes a recheck of the intent, and nothing else. The intent may belong to
 * another site, since the service signs all calls with one key; the recheck is harmless then.
 *
 * A call has neither a time nor a number, and the service repeats it when the answer was lost. So the same call is answered
 * with success every time, and only the first causes a recheck.
 */
export function webhookHandler(
  { statusCache, logger, now, observer }: RouterContext,
  verify: WebhookVerifier,
): Handler {
  const rechecks = new StatusRechecks({ statusCache, logger });
  const seen = new BoundedMap<true>({ ttlMs: seenTtlMs, capacity: seenCapacity, now });
  const warnOfRefusal = refusalWarning(logger, now);
  return async (req, res) => {
    const jwt = await readJwt(req);
    const { intentId, digest } = await verify(jwt).catch((error) => {
      warnOfRefusal(error, req);
      throw error;
    });
    observer?.emit({ type: 'webhook_received', intent: intentId });
    if (!seen.get(digest)) {
      seen.set(digest, true);
      rechecks.add(intentId);
    }
    // The service counts only 200 as delivered (protocol section 5).
    sendEmpty(res, 200, { 'Content-Length': '0' });
  };
}

/** Logs why a call was refused, because the configured key may be wrong; once a minute, because anybody can call. */
function refusalWarning(logger: Logger, now: () => number): (error: unknown, req: Request) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error, req) => {
    if (!(error instanceof IntentError) || error.code !== 'invalid_webhook') return;
    if (now() - warnedAt < warningIntervalMs) return;
    warnedAt = now();
    const reason = error.cause instanceof Error ? error.cause.message : '';
    logger.warn(
      `express-intents: a webhook call was refused (${reason}). If it came from the service, INTENT_WEBHOOK_PUBLIC_KEY is not its key.`,
      { requestId: requestIdOf(req).value },
    );
  };
}
