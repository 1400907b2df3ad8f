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
 * `POST /intent/webhook`: a signed call of the service triggers a recheck of the intent, and nothing else. The intent may
 * belong to another site, because the service signs all calls with one key. The recheck is harmless then.
 *
 * A call has no unique id, its expiry is optional, and the service repeats it until it gets 200. So 200 means that the recheck has
 * succeeded. Copies of a call share its recheck, unless that fails.
 */
export function webhookHandler(
  { statusCache, ledger, logger, monotonicNow, observer }: RouterContext,
  verify: WebhookVerifier,
): Handler {
  const rechecks = new StatusRechecks({ statusCache, ledger });
  const seen = new BoundedMap<Promise<void>>({ ttlMs: seenTtlMs, capacity: seenCapacity, now: monotonicNow });
  const warnOfRefusal = refusalWarning(logger, monotonicNow);
  return async (req, res) => {
    const jwt = await readJwt(req);
    const { intentId, digest } = await verify(jwt).catch((error) => {
      warnOfRefusal(error, req);
      throw error;
    });
    observer?.emit({ type: 'webhook_received', intent: intentId });
    let recheck = seen.get(digest);
    if (!recheck) {
      recheck = rechecks.add(intentId);
      seen.set(digest, recheck);
    }
    await recheck.catch((error) => {
      if (seen.get(digest) === recheck) seen.delete(digest);
      throw error;
    });
    // The service counts only 200 as delivered (protocol section 5).
    sendEmpty(res, 200, { 'Content-Length': '0' });
  };
}

/** Logs why a call was rejected, and the fix. At most once a minute, because anyone can call. */
function refusalWarning(logger: Logger, now: () => number): (error: unknown, req: Request) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error, req) => {
    if (!(error instanceof IntentError) || error.code !== 'invalid_webhook') return;
    if (now() - warnedAt < warningIntervalMs) return;
    warnedAt = now();
    const reason = error.cause instanceof Error ? error.cause.message : '';
    logger.warn(`express-intents: rejected a webhook call: ${reason}`, {
      requestId: requestIdOf(req).value,
    });
  };
}
