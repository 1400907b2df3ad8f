import { types } from 'node:util';
import { IntentError, SequencerError } from '../errors.js';

/** Receives log lines for the operator. `console`, winston and others have these methods. */
export interface Logger {
  /** Normal operation. Without this method, these lines go to `warn`. */
  info?(message: string, details?: Record<string, unknown>): void;
  /** A condition to investigate. The site continues. */
  warn(message: string, details?: Record<string, unknown>): void;
  /** A failure. `details` describes the error and contains no secret. */
  error(message: string, details?: Record<string, unknown>): void;
}

/** The logger that the router itself writes to. */
export type RouterLogger = Required<Logger>;

type Level = keyof RouterLogger;
type Write = (message: string, details?: Record<string, unknown>) => unknown;

/**
 * Wraps the logger of a site; `false` logs nothing. Errors of the logger are ignored: a failing logger must not change the
 * response to a request.
 */
export function routerLogger(given: Logger | false): RouterLogger {
  if (given === false) return { info: ignore, warn: ignore, error: ignore };
  const writeAt = (level: Level): Write => {
    const name = level === 'info' && typeof given.info !== 'function' ? 'warn' : level;
    return (message, details) => (details ? given[name]?.(message, details) : given[name]?.(message));
  };
  return {
    info: nonThrowing(writeAt('info')),
    warn: nonThrowing(writeAt('warn')),
    error: nonThrowing(writeAt('error')),
  };
}

function nonThrowing(write: Write): RouterLogger['warn'] {
  return (message, details) => {
    try {
      Promise.resolve(write(message, details)).catch(ignore);
    } catch {
      // The logger itself has failed.
    }
  };
}

function ignore(): void {}

/**
 * The details of an error for the log: its message, code, root cause and stack. Other properties are omitted, because they
 * may contain secrets. The text of the service is quoted and truncated.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isError(error)) return { error: typeof error };
  const { message, stack } = error;
  const code = error instanceof IntentError ? { code: error.code } : {};
  const details = { message, ...code, ...rootCauseOf(error) };
  if (!(error instanceof SequencerError)) return { ...details, stack };
  const { serviceMessage, httpStatus } = error;
  const service = serviceMessage === undefined ? {} : { serviceMessage: JSON.stringify(serviceMessage.slice(0, 200)) };
  return { ...details, ...service, ...(httpStatus !== undefined && { httpStatus }) };
}

const maxCauses = 5;

/** The innermost cause, such as `connect ECONNREFUSED 10.0.0.7:443` for a failed connection. */
function rootCauseOf(error: Error): { readonly cause?: string; readonly causeCode?: string } {
  let cause: unknown = error;
  for (let depth = 0; depth < maxCauses && isError(cause) && isError(cause.cause); depth += 1) {
    cause = cause.cause;
  }
  if (cause === error || !isError(cause)) return {};
  const { code, errors } = cause as { code?: unknown; errors?: unknown };
  // A connection attempted at several addresses has one error for each.
  const each = Array.isArray(errors) ? errors.filter(isError) : [cause];
  const text = each.map(({ message }) => message).join('; ');
  return { cause: text, ...(typeof code === 'string' && { causeCode: code }) };
}

/** True for errors of other realms too: a test runner has a realm of its own. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
