import type { Request, Response } from 'express';
import type { Routes } from '../config/config-options.js';
import { IntentError, type IntentErrorCode } from '../errors.js';
import type { RouterEventPayload } from '../telemetry/router-event.js';
import type { Logger } from './logger.js';
import { ClientDisconnectedError } from './request/client-disconnect.js';
import { rejectCrossSite, requireSameOrigin } from './request/origin-guard.js';
import { sendError, toProblemDetails } from './response/problem.js';
import type { Handler, RouterContext } from './router-context.js';

export type Methods = Readonly<Record<string, Handler>>;

export interface MatchedRoute {
  readonly name: keyof Routes;
  readonly methods: Methods;
  /** The rest of the path after the route: the id in `/status/:id`; empty for most routes. */
  readonly rest: string;
}

/** Handles a request: guards, handler, error response, event. Never rejects: that would end the process. */
export async function handleRoute(
  route: MatchedRoute,
  req: Request,
  res: Response,
  context: RouterContext,
): Promise<void> {
  const { name, methods, rest } = route;
  const { config, running, logger } = context;
  const { method: sent } = req;
  const method = sent === 'HEAD' ? 'GET' : sent;
  const request = running.begin(res);
  try {
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!handler) throw new IntentError('method_not_allowed', `Allowed methods: ${Object.keys(methods).join(', ')}.`);
    // Before the rate limit: otherwise a page of another site could use up the limits that its visitors have on this site.
    if (method !== 'GET' && name !== 'webhook') requireSameOrigin(req, config.origin);
    if (name === 'status' || name === 'events') rejectCrossSite(req);
    await handler(req, res, rest);
  } catch (error) {
    try {
      handleFailure(route, req, res, context, error);
    } catch {
      sendInternalError(res, logger);
    }
  } finally {
    running.end(request);
  }
}

function handleFailure(
  { name, methods }: MatchedRoute,
  req: Request,
  res: Response,
  { logger, observer }: RouterContext,
  error: unknown,
): void {
  // A timeout middleware of the app, for instance, has responded while the handler waited.
  if ((error as { code?: unknown } | undefined)?.code === 'ERR_HTTP_HEADERS_SENT') return;
  const isWrongMethod = error instanceof IntentError && error.code === 'method_not_allowed';
  sendError(res, error, logger, isWrongMethod ? { Allow: Object.keys(methods).join(', ') } : {});
  if (!observer || error instanceof ClientDisconnectedError) return;
  const event = failureEvent(name, req, codeOf(error));
  if (event) observer.emit(event);
}

/** A hook threw an object whose properties throw, or a middleware of the app replaced a method of the response that throws. */
function sendInternalError(res: Response, logger: Logger): void {
  try {
    sendError(res, undefined, logger);
  } catch {
    res.destroy();
  }
}

/** A hook of the site can throw anything, even an object whose properties throw. */
function codeOf(error: unknown): IntentErrorCode {
  try {
    return toProblemDetails(error).code;
  } catch {
    return 'internal_error';
  }
}

function failureEvent(name: keyof Routes, req: Request, code: IntentErrorCode): RouterEventPayload | undefined {
  if (code === 'rate_limited') return { type: 'rate_limited', route: name };
  if (req.method !== 'POST') return undefined;
  if (name === 'intent') return { type: 'intent_failed', code, kind: requestedKind(req) };
  if (name === 'session') return { type: 'login_failed', code };
  return name === 'webhook' ? { type: 'webhook_rejected', code } : undefined;
}

function requestedKind({ body }: Request): 'payment' | 'login' | undefined {
  const { mode } = (body ?? {}) as { mode?: unknown };
  return mode === 'payment' || mode === 'login' ? mode : undefined;
}
