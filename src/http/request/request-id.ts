import { randomUUID } from 'node:crypto';
import type { Request } from 'express';

/** What a log line, a header and a URN (RFC 8141) can hold as it is; nothing in it begins a new line or ends a quote. */
const idForm = /^[\w.:~@+=/-]{1,128}$/;

/** What tells a request apart from all others, in the log and in its answer. */
export interface RequestId {
  readonly value: string;
  /** Whether the answer tells it in `X-Request-Id`: not where the app has named the request, and so tells it itself. */
  readonly isTold: boolean;
}

/** Kept once somebody has asked for it, so that the answer and all lines say the same; most requests have none. */
const known = new WeakMap<Request, RequestId>();

/**
 * The id of a request: the app's own (`req.id`, as pino-http sets it, or the header `X-Request-Id` of the response), else
 * the header `X-Request-Id` of the request where a proxy that is trusted has sent it, else a new one.
 */
export function requestIdOf(req: Request): RequestId {
  const id = known.get(req) ?? findRequestId(req);
  known.set(req, id);
  return id;
}

function findRequestId(req: Request): RequestId {
  const own = idIn((req as { id?: unknown }).id) ?? idIn(req.res?.getHeader('x-request-id'));
  if (own !== undefined) return { value: own, isTold: false };
  const given = idIn(req.headers['x-request-id']);
  return { value: given !== undefined && comesFromTrustedProxy(req) ? given : randomUUID(), isTold: true };
}

function idIn(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value);
  return idForm.test(text) ? text : undefined;
}

/** A visitor who chose the id himself could make his requests look like another's in the log. */
function comesFromTrustedProxy(req: Request): boolean {
  const trusts: unknown = req.app.get('trust proxy fn');
  try {
    return typeof trusts === 'function' && Boolean(trusts(req.socket?.remoteAddress, 0));
  } catch {
    // It is the app's own, and an error must be answered whatever else fails.
    return false;
  }
}
