import type { Request, Response } from 'express';
import { describeError } from '../../describe-error.js';
import { errorCodes, IntentError, type IntentErrorCode } from '../../errors.js';
import { DatabaseOutage } from '../../ledger/database/database-fault.js';
import { isCounted } from '../../sequencer/resilience/outage.js';
import { HookFailed, hookRefusalOf } from '../hook-errors.js';
import type { Logger } from '../logger.js';
import { ClientDisconnectedError } from '../request/client-disconnect.js';
import { requestIdOf } from '../request/request-id.js';
import { closeConnection } from '../running-requests.js';
import { sendJson } from './respond.js';

/** The body of an error response (RFC 9457), without `instance`, which identifies the request. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: IntentErrorCode;
  readonly detail?: string;
}

/**
 * The problem details of an error for the client. Client errors include the message of the router. Server errors have only the
 * title, so that no text of the service, no stack and no configuration of the site is exposed.
 */
export function toProblemDetails(error: unknown): ProblemDetails {
  if (error instanceof IntentError) {
    const { code, status, title, message } = error;
    return { type: typeOf(code), title, status, code, ...(status < 500 && message !== title && { detail: message }) };
  }
  const refusal = hookRefusalOf(error);
  if (refusal) return { type: typeOf('request_refused'), title: errorCodes.request_refused[1], ...refusal };
  const [status, title] = errorCodes.internal_error;
  return { type: typeOf('internal_error'), title, status, code: 'internal_error' };
}

/** Sends the problem of an error. Logs server errors except `closing` and outages, which have log lines of their own. */
export function sendError(res: Response, error: unknown, logger: Logger, headers: Record<string, string> = {}): void {
  if (error instanceof ClientDisconnectedError) {
    res.destroy();
    return;
  }
  const problem = toProblemDetails(error);
  const isLoggedElsewhere = problem.code === 'closing' || error instanceof DatabaseOutage || isCounted(error);
  if (problem.status >= 500 && !isLoggedElsewhere) logServerError(res.req, error, problem.code, logger);
  if (res.headersSent) {
    if (!res.writableEnded) res.destroy();
    return;
  }
  if (problem.status === 413) discardBody(res);
  sendProblemDetails(res, problem, { ...retryAfter(error), ...headers });
}

function logServerError(req: Request, error: unknown, code: IntentErrorCode, logger: Logger): void {
  const requestId = requestIdOf(req).value;
  if (error instanceof HookFailed) {
    const route = `${req.method} ${req.baseUrl}${req.path}`;
    const details = { requestId, route, ...describeError(error.cause), code };
    logger.error(`express-intents: ${error.hook} failed`, details);
    return;
  }
  const details = describeError(error);
  // The message has the field and the fix. The hook has returned, so the stack has only frames of this package.
  if (code === 'invalid_terms') delete details.stack;
  // These are not bugs of this package. An IntentError states its cause. `at` is a line of the site. A SQLSTATE can come from a
  // constraint of the site that fails when the transaction of a hook commits: then no line of the site is on the stack.
  const isExplained = error instanceof IntentError || 'at' in details || 'sqlState' in details;
  const isOurs = code === 'internal_error' && !isExplained;
  const reportAdvice = isOurs ? '. This is a bug in express-intents. Please report it.' : '';
  logger.error(`express-intents: ${code}${reportAdvice}`, { requestId, ...details });
}

/** Sends a problem. `instance` contains the request id that the log shows (RFC 9457, section 3.1.5). */
export function sendProblemDetails(
  res: Response,
  problem: ProblemDetails,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { value, isOurs } = requestIdOf(res.req);
  const body = { ...problem, instance: `urn:express-intents:request:${value}` };
  const type = { 'Content-Type': 'application/problem+json' };
  sendJson(res, problem.status, body, { ...type, ...(isOurs && { 'X-Request-Id': value }), ...headers });
}

/** Discards the rest of the body so that the client can read the response. Then the connection closes. */
function discardBody(res: Response): void {
  res.req.resume();
  closeConnection(res);
}

export function retryAfter(error: unknown): Record<string, string> {
  const { retryAfterMs } = error instanceof IntentError ? error : {};
  return retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}

const typeOf = (code: IntentErrorCode): string => `urn:express-intents:error:${code}`;
