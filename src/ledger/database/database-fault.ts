import { IntentError, type IntentErrorOptions } from '../../errors.js';
import { explainDatabase } from './explain-database.js';

/**
 * The database cannot be reached, or does nothing that it is asked: it befalls all calls, whichever statement they have. It
 * is told once by whoever keeps the database, and not by each call.
 */
export class DatabaseOutage extends IntentError {
  constructor(message: string, options?: IntentErrorOptions) {
    super('ledger_unavailable', message, options);
  }
}

/** The database cannot come back to this process: it has to be restarted. */
export class DatabaseLost extends DatabaseOutage {}

/** What drivers say when it is not the database that speaks (`pg`). */
const lostInDriver = /^Connection terminated|^Client (?:has|was) |^Query read timeout|^timeout exceeded/;

/** Of Node: `ECONNRESET` and the like, but none of its own `ERR_INVALID_ARG_TYPE` and the like. */
const systemCode = /^E(?!RR_)[A-Z_]+$/;

/**
 * SQLSTATEs after which the same may well succeed on another connection or at another time: connection exceptions (08),
 * a want of resources (53), a shut-down or a time-out (57), the system (58), an idle or overlong transaction (25P03, 25P04),
 * and a server that takes no writes because it is no longer the primary (25006).
 */
const unavailable = /^(?:08|53|57|58)|^25P0[34]$|^25006$/;

/** Of those, the ones that are about one statement, or one transaction, and nothing else. */
const ofOneCall = /^57014$|^25P0[34]$|^53400$/;

/** Of those, the ones after which this connection is good for more: a time-out or a cancel of one statement, a want of resources. */
const spared = /^57014$|^53/;

/** SQLSTATE, where the database itself has said no. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !systemCode.test(code) ? code : undefined;
}

/**
 * A statement with too few values, or too many. Postgres says so by 08P01, and that is a fault of the statement; poolers say
 * nearly everything by it.
 */
function isMisfit(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown };
  return code === '08P01' && routine === 'exec_bind_message';
}

/** Whether a connection may be used again after this error. Whatever is not the word of the database leaves that open. */
export function isUsableAfter(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (isMisfit(error)) return true;
  return state !== undefined && (spared.test(state) || !unavailable.test(state));
}

/** `ledger_unavailable` where it is a matter of reaching the database; anything else as it is. */
export function explainFault(error: unknown): unknown {
  if (error instanceof IntentError || isMisfit(error)) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const state = sqlStateOf(error);
  const isUnavailable = state
    ? unavailable.test(state)
    : systemCode.test(String(code)) || lostInDriver.test(String(message));
  if (!isUnavailable) return error;
  const what = 'The database did not do what it was asked';
  return state && ofOneCall.test(state) ? unreachable(what, error) : outage(what, error);
}

/** `ledger_unavailable`, with what has happened and the reason. */
export function unreachable(what: string, cause?: unknown): IntentError {
  return new IntentError('ledger_unavailable', withReason(what, cause), cause ? { cause } : {});
}

/** The same where it befalls all calls, with what mends it. */
export function outage(what: string, cause: unknown): DatabaseOutage {
  const { mend } = explainDatabase(cause) ?? {};
  return new DatabaseOutage(withReason(what, cause) + (mend ? `. ${mend}` : ''), { cause });
}

function withReason(what: string, cause: unknown): string {
  const { code, errors } = (cause ?? {}) as { code?: unknown; errors?: unknown };
  // Of several addresses, each has failed in its own way, and the error of all says nothing.
  const each = Array.isArray(errors) ? errors : [cause];
  const told = each.map((one) => (one as { message?: unknown } | undefined)?.message).filter(Boolean);
  const reason = [told.join('; '), typeof code === 'string' && `(${code})`].filter(Boolean).join(' ');
  return reason ? `${what}: ${reason}` : `${what}.`;
}
