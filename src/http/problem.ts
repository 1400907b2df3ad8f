import type { Response } from 'express';
import { errorCodes, IntentError, type IntentErrorCode, SequencerError } from '../errors.js';
import { Departed } from './departure.js';
import type { Logger } from './logger.js';
import { sendJson } from './respond.js';

/** The body of an error answer (RFC 9457). */
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

/** Answers with the problem, and logs what is not the caller's fault. */
export function sendProblem(res: Response, error: unknown, logger: Logger, headers: Record<string, string> = {}): void {
  if (error instanceof Departed) {
    res.destroy();
    return;
  }
  const problem = problemOf(error);
  if (problem.status >= 500) logger.error(`express-intents: ${problem.code}`, describe(error));
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const close = problem.status === 413 ? refuseBody(res) : {};
  const type = { 'Content-Type': 'application/problem+json' };
  sendJson(res, problem.status, problem, { ...type, ...close, ...retryAfter(error), ...headers });
}

/** What is left of the body is thrown away until the answer is out, so that it arrives; then the connection ends. */
function refuseBody(res: Response): Record<string, string> {
  res.req.resume();
  return { Connection: 'close' };
}

/** In whole seconds, and never at once. */
function retryAfter(error: unknown): Record<string, string> {
  const { retryAfterMs } = error instanceof IntentError ? error : {};
  return retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}

const typeOf = (code: IntentErrorCode): string => `urn:express-intents:error:${code}`;

/** A hook of the site may refuse with an error that has a 4xx `status` and an `expose`, as `refuse()` and http-errors make them. */
function refusalOf(error: unknown): Pick<Problem, 'status' | 'code' | 'detail'> | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message: unknown };
  // Without `expose` it is an error of something the hook has called, and its status is about that call.
  if (typeof status !== 'number' || typeof expose !== 'boolean') return undefined;
  if (!Number.isInteger(status) || status < 400 || status > 499) return undefined;
  return { status, code: 'request_refused', ...(expose && typeof message === 'string' && { detail: message }) };
}

/** The service's text goes to the log as one short line, whatever it holds. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { message, stack, cause } = error;
  const reason = cause instanceof Error ? { cause: cause.message } : {};
  if (!(error instanceof SequencerError)) return { message, ...reason, stack };
  const { serviceMessage, httpStatus } = error;
  const service = serviceMessage === undefined ? {} : { serviceMessage: JSON.stringify(serviceMessage.slice(0, 200)) };
  return { message, ...reason, ...service, ...(httpStatus !== undefined && { httpStatus }) };
}
