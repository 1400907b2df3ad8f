import { types } from 'node:util';
import { IntentError, SequencerError } from '../../errors.js';

/**
 * What the log is told of an error: its message, what was at the bottom of it, and from where it came. Of the rest of an
 * error nothing is looked at, which may be anybody's secret; the service's text is one short line, whatever it holds.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isError(error)) return { error: typeof error };
  const { message, stack } = error;
  const code = error instanceof IntentError ? { code: error.code } : {};
  const told = { message, ...code, ...reasonOf(error) };
  if (!(error instanceof SequencerError)) return { ...told, stack };
  const { serviceMessage, httpStatus } = error;
  const service = serviceMessage === undefined ? {} : { serviceMessage: JSON.stringify(serviceMessage.slice(0, 200)) };
  return { ...told, ...service, ...(httpStatus !== undefined && { httpStatus }) };
}

/** Causes of causes are followed so far. */
const maxDepth = 5;

/** The error at the bottom, which is the system's own where a connection has failed: `connect ECONNREFUSED 10.0.0.7:443`. */
function reasonOf(error: Error): { readonly cause?: string; readonly causeCode?: string } {
  let cause: unknown = error;
  for (let depth = 0; depth < maxDepth && isError(cause) && isError(cause.cause); depth += 1) {
    cause = cause.cause;
  }
  if (cause === error || !isError(cause)) return {};
  const { code, errors } = cause as { code?: unknown; errors?: unknown };
  // Of several addresses, each has failed in its own way.
  const each = Array.isArray(errors) ? errors.filter(isError) : [cause];
  const text = each.map(({ message }) => message).join('; ');
  return { cause: text, ...(typeof code === 'string' && { causeCode: code }) };
}

/** Also one of another realm, such as that of Node itself where a test runs in its own. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
