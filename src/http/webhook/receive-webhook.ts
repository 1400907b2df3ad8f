import type { Request } from 'express';
import { BoundedMap } from '../../async/bounded-map.js';
import { IntentError } from '../../errors.js';
import { StatusRechecks } from '../events/status-rechecks.js';
import { bodyTooLarge, readBytes } from '../request/read-bytes.js';
import { requestIdOf } from '../request/request-id.js';
import type { Logger } from '../response/logger.js';
import { sendEmpty } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import type { WebhookVerifier } from './verify-webhook.js';

const bodyLimitBytes = 8 * 1024;
const rememberedMs = 3_600_000;
const rememberedCalls = 10_000;
const warningIntervalMs = 60_000;

/**
 * `POST /intent/webhook`: takes a call that the service has signed as a hint to ask for the status, and as no more. The
 * intent may even be another site's, since the service signs the calls of all with one key; then asking does no harm.
 *
 * A call carries neither a time nor a number, and the service sends it again when the answer got lost. So the same call
 * is answered with success every time, and only the first leads to a look.
 */
export function webhookHandler(
  { statusCache, logger, now, observer }: RouterContext,
  verify: WebhookVerifier,
): Handler {
  const rechecks = new StatusRechecks({ statusCache, logger });
  const seen = new BoundedMap<true>({ ttlMs: rememberedMs, capacity: rememberedCalls, now });
  const warn = refusalWarning(logger, now);
  return async (req, res) => {
    const jwt = await readJwt(req);
    const { intentId, digest } = await verify(jwt).catch((error) => {
      warn(error, req);
      throw error;
    });
    observer?.tell({ type: 'webhook_received', intent: intentId });
    if (!seen.get(digest)) {
      seen.set(digest, true);
      rechecks.add(intentId);
    }
    // Services of this family count nothing but 200 as delivered (protocol section 5).
    sendEmpty(res, 200, { 'Content-Length': '0' });
  };
}

/** @throws {IntentError} `unsupported_media_type`, `body_too_large`, `invalid_webhook` */
async function readJwt(req: Request): Promise<string> {
  const [mediaType = ''] = (req.headers['content-type'] ?? '').split(';', 1);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (mediaType.trim().toLowerCase() !== 'application/jwt' || encoding !== 'identity') {
    throw new IntentError('unsupported_media_type', 'Send the body as application/jwt, without a content encoding.');
  }
  if (Number(req.headers['content-length'] ?? 0) > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes);
  if (!req.readableDidRead) return (await readBytes(req, bodyLimitBytes, 'invalid_webhook')).toString('latin1');
  // A parser of the app was there before us.
  const body: unknown = req.body;
  const read = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
  if (read.length > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes);
  return read.toString('latin1');
}

/** Tells the operator why, who may have set another key; once a minute, since everybody can call. */
function refusalWarning(logger: Logger, now: () => number): (error: unknown, req: Request) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (error, req) => {
    if (!(error instanceof IntentError) || error.code !== 'invalid_webhook') return;
    if (now() - toldAt < warningIntervalMs) return;
    toldAt = now();
    const reason = error.cause instanceof Error ? error.cause.message : '';
    logger.warn(
      `express-intents: a webhook call was refused (${reason}). If it came from the service, INTENT_SERVICE_KEY is not its key.`,
      { requestId: requestIdOf(req).value },
    );
  };
}
