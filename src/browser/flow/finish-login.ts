import { toJson } from '../built-ins.js';
import type { User } from '../events.js';
import { isFinalRefusal, Problem, requestJson, toProblem } from './api.js';
import { retryUntil } from './retry.js';

/** The user, or the user that the visitor must confirm. */
type LoginResponse = { readonly user: User } | { readonly user?: never; readonly confirm: { readonly user: User } };

const retryWindowMs = 120_000;

/**
 * Completes a login on the server (interface section 4.7), with retries. All requests have the same idempotency key: if the
 * answer to a completed login was lost, the site can answer again.
 * @param session the path of the route
 * @param onRetry called with the last problem before each retry but the first, because a single failure is not displayed
 * @param confirmUser asks the visitor to confirm the user, on sites with the option `confirm`
 * @returns undefined if the visitor declines
 * @throws {Problem}
 */
export async function finishLogin(
  id: string,
  session: string | false,
  signal: AbortSignal,
  onRetry: (problem: Problem) => void,
  confirmUser: (userId: string) => Promise<boolean>,
): Promise<User | undefined> {
  const idempotencyKey = crypto.randomUUID();
  let last: Problem;
  let failure: Problem | undefined;
  const mayRetry = (problem: Problem): boolean => {
    last = problem;
    if (problem.status > 499) failure = problem;
    return !isFinalRefusal(problem);
  };
  let confirm: boolean | undefined;
  const complete = async (): Promise<User | undefined> => {
    const answer = await requestJson<LoginResponse>(session, signal, toJson({ id, confirm }), idempotencyKey);
    if (answer.user) return answer.user;
    // If the login expires while the visitor decides, the site is not the cause.
    failure = undefined;
    confirm = await confirmUser(answer.confirm.user.id);
    if (confirm) return complete();
    return undefined;
  };
  try {
    return await retryUntil(signal, retryWindowMs, mayRetry, (failures) => {
      if (failures > 1) onRetry(last);
      return complete();
    });
  } catch (problem) {
    // If the login expired during the retries, the cause is the failure of the site.
    throw ((problem as Problem).status === 404 && failure) || problem;
  }
}

/**
 * Checks before the wallet is asked that the browser keeps the cookie which binds a login to it. Browsers refuse it in a frame of
 * another site, or everywhere. The page cannot see the cookie, but the route answers a login that is not confirmed yet differently
 * without it. Pages of their own with cookies are not checked.
 * @throws {Problem} `cookies_blocked`
 */
export async function requireLoginCookie(id: string, session: string | false, signal: AbortSignal): Promise<void> {
  if (self === top && navigator.cookieEnabled) return;
  const answer = await requestJson(session, signal, toJson({ id })).catch((error) => toProblem(error));
  if (answer instanceof Problem && answer.code === 'intent_not_found') throw new Problem('cookies_blocked', 403);
}
