import type { Response } from 'express';
import { errorCodes, IntentError, type IntentErrorCode } from '../../errors.js';
import { DatabaseOutage } from '../../ledger/database/database-fault.js';
import { Departed } from '../request/client-disconnect.js';
import { requestIdOf } from '../request/request-id.js';
import { describeError } from './describe-error.js';
import type { Logger } from './logger.js';
import { sendJson } from './respond.js';

/** The body of an error answer (RFC 9457), but for `instance`, which is the request's. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: IntentErrorCode;
  readonly detail?: string;
}

/**
 * What a browser is told of an error. For a fault of the caller that is our own message; for anything else only the
 * title, so that neither the service's text, nor a stack, nor the set-up of the site gets out.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof IntentError) {
    const { code, status, title, message } = error;
    return { type: typeOf(code), title, status, code, ...(status < 500 && message !== title && { detail: message }) };
  }
  const refusal = refusalOf(error);
  if (refusal) return { type: typeOf('request_refused'), title: errorCodes.request_refused[1], ...refusal };
  const [status, title] = errorCodes.internal_error;
  return { type: typeOf('internal_error'), title, status, code: 'internal_error' };
}

/**
 * Answers with the problem of an error, and logs what is not the caller's fault; but for an outage of the database, of which
 * the ledger tells its beginning and its end, and for what comes to a process that is being ended, which refuses as it should.
 */
export function sendProblem(res: Response, error: unknown, logger: Logger, headers: Record<string, string> = {}): void {
  if (error instanceof Departed) {
    res.destroy();
    return;
  }
  const problem = problemOf(error);
  if (problem.status >= 500 && problem.code !== 'closing' && !(error instanceof DatabaseOutage)) {
    const requestId = requestIdOf(res.req).value;
    logger.error(`express-intents: ${problem.code}`, { requestId, ...describeError(error) });
  }
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const close = problem.status === 413 ? refuseBody(res) : {};
  answerProblem(res, problem, { ...close, ...retryAfter(error), ...headers });
}

/** Answers with a problem, of which `instance` names this request, as the log does (RFC 9457, section 3.1.5). */
export function answerProblem(res: Response, problem: Problem, headers: Readonly<Record<string, string>> = {}): void {
  const { value, isTold } = requestIdOf(res.req);
  const body = { ...problem, instance: `urn:express-intents:request:${value}` };
  const type = { 'Content-Type': 'application/problem+json' };
  sendJson(res, problem.status, body, { ...type, ...(isTold && { 'X-Request-Id': value }), ...headers });
}

/** What is left of the body is thrown away until the answer is out, so that it arrives; then the connection ends. */
function refuseBody(res: Response): Record<string, string> {
  res.req.resume();
  return { Connection: 'close' };
}

/** In whole seconds, and never at once. */
export function retryAfter(error: unknown): Record<string, string> {
  const { retryAfterMs } = error instanceof IntentError ? error : {};
  return retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}

const typeOf = (code: IntentErrorCode): string => `urn:express-intents:error:${code}`;

/** Whether a hook of the site has refused the request. */
export function isRefusal(error: unknown): boolean {
  return !(error instanceof IntentError) && refusalOf(error) !== undefined;
}

/** A hook of the site may refuse with an error that has a 4xx `status` and an `expose`, as `refuse()` and http-errors make them. */
function refusalOf(error: unknown): Pick<Problem, 'status' | 'code' | 'detail'> | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message: unknown };
  // Without `expose` it is an error of something the hook has called, and its status is about that call.
  if (typeof status !== 'number' || typeof expose !== 'boolean') return undefined;
  if (!Number.isInteger(status) || status < 400 || status > 499) return undefined;
  return { status, code: 'request_refused', ...(expose && typeof message === 'string' && { detail: message }) };
}
