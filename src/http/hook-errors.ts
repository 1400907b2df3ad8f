import { IntentError } from '../errors.js';
import { DatabaseOutage } from '../ledger/database/database-fault.js';

// How a hook that handles a request rejects it, and how the router reports a hook that fails.

/**
 * Call it in a hook that handles a request, such as `payment` or `onLogin`, to reject the request: the browser receives this
 * status, the code `request_refused` and the message.
 * @param status 400 to 499, such as 404 for an unknown article
 * @throws {TypeError} for another status, or a message that is not a string: the hook then fails
 */
export function refuse(message: string, status = 400): never {
  if (typeof message !== 'string' || !isClientStatus(status)) {
    throw new TypeError('refuse(message, status): the status must be 400 to 499, and the message a string.');
  }
  throw Object.assign(new Error(message), { status, expose: true });
}

const isClientStatus = (status: number): boolean => Number.isInteger(status) && status >= 400 && status <= 499;

export function isHookRefusal(error: unknown): boolean {
  return !(error instanceof IntentError) && hookRefusalOf(error) !== undefined;
}

export interface HookRefusal {
  readonly status: number;
  readonly code: 'request_refused';
  readonly detail?: string;
}

/** Hooks reject with a 4xx `status` and a boolean `expose`, as `refuse()` and http-errors throw. */
export function hookRefusalOf(error: unknown): HookRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message: unknown };
  // An error without `expose` comes from a call inside the hook, and so does its status.
  if (typeof status !== 'number' || typeof expose !== 'boolean') return undefined;
  if (!isClientStatus(status)) return undefined;
  return { status, code: 'request_refused', ...(expose && typeof message === 'string' && { detail: message }) };
}

/** A hook of the site failed. Its `cause` is what the hook threw. The browser receives only the code and its title. */
export class HookFailed extends IntentError {
  /** Such as `onLogin`. */
  readonly hook: string;

  constructor(hook: string, cause: unknown) {
    const { code, retryAfterMs } = cause instanceof IntentError ? cause : {};
    super(code ?? 'internal_error', `${hook} failed.`, { cause, retryAfterMs });
    this.hook = hook;
  }
}

/**
 * Runs a hook of the site.
 * @param name for the log
 * @throws {HookFailed} if the hook fails
 * @throws the error of the hook unchanged, if it rejects the request or is an outage of the database, which the ledger logs
 */
export async function runHook<Value>(name: string, call: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    throw passesThrough(error) ? error : new HookFailed(name, error);
  }
}

/** Whether the error is rethrown unwrapped. Reading properties of a thrown value can itself throw. */
function passesThrough(error: unknown): boolean {
  try {
    if (error instanceof IntentError) return error.status < 500 || error instanceof DatabaseOutage;
    return isHookRefusal(error);
  } catch {
    return false;
  }
}
