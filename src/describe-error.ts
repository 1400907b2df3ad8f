import { types } from 'node:util';
import { firstAppFrame, IntentError, SequencerError, siteFrames, unreadable } from './errors.js';

/**
 * The details of an error for the log: the line of the site that caused it, its message, root cause and stack; for an
 * `IntentError` also the code, and for a database error the SQLSTATE and the names of constraint, table and column. Other
 * properties are omitted, because they may contain secrets: `detail` of a database error has values of the row. An ORM puts the
 * values of a query into the message of its own error, so the error of the driver is described instead. A failed call to the
 * sequencer has, instead of the stack, the error text of the service, quoted and truncated.
 *
 * Hooks can throw any value, even one that throws when it is read.
 */
export function describeError(error: unknown): Record<string, unknown> {
  try {
    if (isError(error)) return detailsOf(error);
    return typeof error === 'string' ? { message: error.slice(0, 1_000) } : { error: typeof error };
  } catch {
    return { message: unreadable };
  }
}

/**
 * The text of an error for the database and events, at most 1000 characters, without NUL. It describes the same error as
 * {@link describeError}, and names the SQLSTATE, constraint, table and column of a database error.
 */
export function errorText(error: unknown): string {
  try {
    const text = isError(error) ? textOf(error) : String(error);
    return text.replaceAll('\0', '').slice(0, 1_000);
  } catch {
    return unreadable;
  }
}

function textOf(error: Error): string {
  const chain = reportedCauses(error);
  const [{ name, message }] = chain;
  const fault = chain.find(isDatabaseError);
  if (!fault) return `${name}: ${message}`;
  const names = Object.entries(databaseDetails(chain)).map((each) => each.join(' '));
  const reason = message.includes(fault.message) ? '' : ` ${fault.message}`;
  return `${name}: ${message.slice(0, 500)}${reason.slice(0, 300)} (${names.join(', ')})`;
}

function detailsOf(error: Error): Record<string, unknown> {
  const chain = reportedCauses(error);
  const [reported] = chain;
  const { message } = reported;
  const located = [...chain, ...causesOf(error)].find((each) => firstAppFrame(framesOf(each)) !== undefined);
  const at = firstAppFrame(located && framesOf(located));
  const code = reported instanceof IntentError ? { code: reported.code } : {};
  const details = { ...(at !== undefined && { at }), message, ...code, ...databaseDetails(chain), ...rootCause(chain) };
  if (!(reported instanceof SequencerError)) {
    const frames = located && [`${reported.name}: ${message}`, ...siteFrames(framesOf(located))].join('\n');
    return { ...details, stack: reported === error ? error.stack : frames };
  }
  const { serviceMessage, httpStatus } = reported;
  const service = serviceMessage === undefined ? {} : { serviceMessage: JSON.stringify(serviceMessage.slice(0, 400)) };
  return { ...details, ...service, ...(httpStatus !== undefined && { httpStatus }) };
}

const maxCauses = 5;

function causesOf(error: Error): readonly [Error, ...Error[]] {
  const chain: [Error, ...Error[]] = [error];
  for (let last = error; chain.length <= maxCauses && isError(last.cause); last = last.cause) chain.push(last.cause);
  return chain;
}

/**
 * The error and its causes, without the outermost errors that may contain the values of a query: those that wrap the error
 * of a driver, and those of an ORM, which have a property `params` or `parameters`.
 */
function reportedCauses(error: Error): readonly [Error, ...Error[]] {
  let [first, ...causes] = causesOf(error);
  const mayHaveValues = (each: Error): boolean =>
    !(each instanceof IntentError || isDatabaseError(each)) &&
    ('params' in each || 'parameters' in each || causes.some(isDatabaseError));
  for (; causes[0] && mayHaveValues(first); ) [first, ...causes] = causes as [Error, ...Error[]];
  return [first, ...causes];
}

/** The stack without the message, whose lines may look like frames. */
const framesOf = ({ stack, message }: Error): string | undefined => stack?.replace(message, () => '');

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

/** True for an error of Postgres, from its driver or copied by an ORM. */
function isDatabaseError(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return 'severity' in error && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}

/** Drivers report the names of the database in these properties. */
const databaseNames = ['constraint', 'table', 'column'] as const;

function databaseDetails(chain: readonly Error[]): Record<string, string> {
  const fault = chain.find(isDatabaseError) as Record<string, unknown> | undefined;
  if (!fault) return {};
  const named = databaseNames.filter((name) => typeof fault[name] === 'string');
  return Object.fromEntries([['sqlState', String(fault.code)], ...named.map((name) => [name, String(fault[name])])]);
}

/** True for errors of other realms too: a test runner has a realm of its own. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
