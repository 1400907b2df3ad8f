import type { Request } from 'express';
import { withTimeout } from '../../async/timeout.js';
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
  const error = () => new IntentError('internal_error', `onLogin took longer than ${timeoutMs} ms.`);
  await withTimeout(timeoutMs, () => onLogin(user, req, context), { error });
}
