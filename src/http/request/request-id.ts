import { randomUUID } from 'node:crypto';
import type { Request } from 'express';

/** Characters that are safe in a log line, a header and a URN (RFC 8141): none ends the line or a quote. */
const idForm = /^[\w.:~@+=/-]{1,128}$/;

export interface RequestId {
  readonly value: string;
  /** Whether the response sets `X-Request-Id`. An app that chose the id sets the header itself. */
  readonly isOurs: boolean;
}

/** Created on demand and cached, so that the response and all log lines agree. */
const requestIds = new WeakMap<Request, RequestId>();

/**
 * The id of a request, from the first of: the app (`req.id`, as pino-http sets it, or `X-Request-Id` of the response),
 * `X-Request-Id` of the request if a trusted proxy sent it, a new random id.
 */
export function requestIdOf(req: Request): RequestId {
  const id = requestIds.get(req) ?? findRequestId(req);
  requestIds.set(req, id);
  return id;
}

function findRequestId(req: Request): RequestId {
  const own = safeId((req as { id?: unknown }).id) ?? safeId(req.res?.getHeader('x-request-id'));
  if (own !== undefined) return { value: own, isOurs: false };
  const given = safeId(req.headers['x-request-id']);
  return { value: given !== undefined && isFromTrustedProxy(req) ? given : randomUUID(), isOurs: true };
}

function safeId(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value);
  return idForm.test(text) ? text : undefined;
}

/** Visitors must not choose the id: they could imitate another visitor's requests in the log. */
function isFromTrustedProxy(req: Request): boolean {
  const trusts: unknown = req.app.get('trust proxy fn');
  try {
    return typeof trusts === 'function' && Boolean(trusts(req.socket?.remoteAddress, 0));
  } catch {
    // An error in the app's function must not prevent the error response.
    return false;
  }
}
