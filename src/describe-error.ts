import { types } from 'node:util';
import { IntentError, SequencerError, siteFrame } from './errors.js';

/**
 * The details of an error for the log: the line of the site that caused it, its message, code, root cause and stack. Of a
 * database error also the SQLSTATE and the names of constraint, table and column. Other properties are omitted, because they may
 * contain secrets: `detail` of a database error has values of the row. The text of the service is quoted and truncated.
 *
 * Hooks can throw any value, even one that throws when it is read.
 */
export function describeError(error: unknown): Record<string, unknown> {
  try {
    if (isError(error)) return detailsOf(error);
    return typeof error === 'string' ? { message: error.slice(0, 1_000) } : { error: typeof error };
  } catch {
    return { message: 'Unknown error: it cannot be read.' };
  }
}

/**
 * The text of an error for the database and events: at most 1000 characters, without NUL. Hooks can throw any value, even one that
 * throws when it is read.
 */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replaceAll('\0', '').slice(0, 1_000);
  } catch {
    return 'Unknown error: it cannot be read.';
  }
}

function detailsOf(error: Error): Record<string, unknown> {
  const chain = causesOf(error);
  const { message, stack } = error;
  const at = chain.map((each) => siteFrame(each.stack)).find((frame) => frame !== undefined);
  const code = error instanceof IntentError ? { code: error.code } : {};
  const details = { ...(at !== undefined && { at }), message, ...code, ...databaseDetails(chain), ...rootCause(chain) };
  if (!(error instanceof SequencerError)) return { ...details, stack };
  const { serviceMessage, httpStatus } = error;
  const service = serviceMessage === undefined ? {} : { serviceMessage: JSON.stringify(serviceMessage.slice(0, 200)) };
  return { ...details, ...service, ...(httpStatus !== undefined && { httpStatus }) };
}

const maxCauses = 5;

function causesOf(error: Error): readonly Error[] {
  const chain = [error];
  for (let last = error; chain.length <= maxCauses && isError(last.cause); last = last.cause) chain.push(last.cause);
  return chain;
}

/** The innermost cause, such as `connect ECONNREFUSED 10.0.0.7:443` for a failed connection. */
function rootCause(chain: readonly Error[]): { readonly cause?: string; readonly causeCode?: string } {
  const cause = chain.at(-1);
  if (cause === undefined || cause === chain[0]) return {};
  const { code, errors } = cause as { code?: unknown; errors?: unknown };
  // A connection attempted at several addresses has one error for each.
  const each = Array.isArray(errors) ? errors.filter(isError) : [cause];
  const text = each.map(({ message }) => message).join('; ');
  return { cause: text, ...(typeof code === 'string' && { causeCode: code }) };
}

/** Drivers report the names of the database in these properties. */
const databaseNames = ['constraint', 'table', 'column'] as const;

function databaseDetails(chain: readonly Error[]): Record<string, string> {
  const fault = chain.find((each) => 'severity' in each && 'routine' in each) as Record<string, unknown> | undefined;
  if (!fault) return {};
  const named = databaseNames.filter((name) => typeof fault[name] === 'string');
  return Object.fromEntries([['sqlState', String(fault.code)], ...named.map((name) => [name, String(fault[name])])]);
}

/** True for errors of other realms too: a test runner has a realm of its own. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
