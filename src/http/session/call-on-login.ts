import type { Request } from 'express';
import { bounded } from '../../async/with-timeout.js';
import { IntentError } from '../../errors.js';
import type { LoginHookContext } from '../hooks.js';
import type { RouterContext } from '../router-context.js';
import type { IntentUser } from './session-store.js';

/** Where there is no ledger, and so no transaction. */
const defaultTimeoutMs = 30_000;

/**
 * Calls the site's `onLogin`, if it has one, and waits for it as long as for any hook: with it waits a transaction.
 * @throws {IntentError} `internal_error` when it takes longer @throws what it throws
 */
export async function callOnLogin(
  { hooks, config }: RouterContext,
  user: IntentUser,
  req: Request,
  context: LoginHookContext,
): Promise<void> {
  const { onLogin } = hooks;
  if (!onLogin) return;
  const timeoutMs = config.ledger?.hookTimeoutMs ?? defaultTimeoutMs;
  const tooLong = AbortSignal.timeout(timeoutMs);
  try {
    await bounded(tooLong, () => onLogin(user, req, context));
  } catch (error) {
    if (!tooLong.aborted || error !== tooLong.reason) throw error;
    throw new IntentError('internal_error', `onLogin took longer than ${timeoutMs} ms.`);
  }
}
