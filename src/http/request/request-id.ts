import { randomUUID } from 'node:crypto';
import type { Request } from 'express';

/** Characters that are safe in a log line, a header and a URN (RFC 8141): none ends the line or a quote. */
const idForm = /^[\w.:~@+=/-]{1,128}$/;

/** The id of a request, in the log and in its answer. */
export interface RequestId {
  readonly value: string;
  /** Whether the answer sets `X-Request-Id`. An app that has chosen the id sets it itself. */
  readonly isOurs: boolean;
}

/** Kept once it was read, so that the answer and all log lines agree. Most requests need none. */
const requestIds = new WeakMap<Request, RequestId>();

/**
 * The id of a request: the app's own (`req.id`, as pino-http sets it, or the header `X-Request-Id` of the response), else
 * the header `X-Request-Id` of the request where a trusted proxy has sent it, else a new one.
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

/** A visitor who could choose the id could make requests look like another visitor's in the log. */
function isFromTrustedProxy(req: Request): boolean {
  const trusts: unknown = req.app.get('trust proxy fn');
  try {
    return typeof trusts === 'function' && Boolean(trusts(req.socket?.remoteAddress, 0));
  } catch {
    // The function is the app's. An error answer must not depend on it.
    return false;
  }
}
