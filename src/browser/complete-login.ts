import { call } from './api.js';
import { delay } from './delay.js';
import { isRefusal, isUnheard, problemOf } from './problem.js';

/** Whoever is logged in. */
export interface User {
  readonly id: string;
}

const longestMs = 8_000;
const endMs = 120_000;

/**
 * Completes a login that the wallet has confirmed (interface section 4.7): the server asks who it was and keeps it in the
 * session. What passes by itself is tried again. An answer that was lost may have told of success, so before it gives up, and
 * only then, it asks who is logged in.
 * @throws {Problem}
 */
export async function completeLogin(session: string | false, id: string, signal: AbortSignal): Promise<User> {
  const startedAtMs = Date.now();
  let isLost = false;
  for (let waitMs = 1_000; ; waitMs = Math.min(waitMs * 2, longestMs)) {
    try {
      return (await call<{ user: User }>(session, signal, JSON.stringify({ id }))).user;
    } catch (error) {
      const problem = problemOf(error);
      if (signal.aborted || isRefusal(problem) || Date.now() - startedAtMs > endMs) {
        const known = isLost && (await call<{ user?: User }>(session, signal).catch(() => undefined))?.user;
        if (known) return known;
        throw problem;
      }
      isLost ||= isUnheard(problem);
    }
    await delay(waitMs);
  }
}
