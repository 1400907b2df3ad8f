import { call } from './api.js';
import { delay } from './delay.js';
import { isPassing, problemOf } from './problem.js';

/** Whoever is logged in. */
export interface User {
  readonly id: string;
}

const longestMs = 8_000;
const endMs = 120_000;

/**
 * Completes a login that the wallet has confirmed (interface section 4.7): the server asks who it was and keeps it in the
 * session. What passes by itself is tried again.
 * @throws {Problem}
 */
export async function completeLogin(session: string | false, id: string, signal: AbortSignal): Promise<User> {
  const startedAtMs = Date.now();
  for (let waitMs = 1_000; ; waitMs = Math.min(waitMs * 2, longestMs)) {
    try {
      return (await call<{ user: User }>(session, signal, { id })).user;
    } catch (error) {
      const problem = problemOf(error);
      if (signal.aborted || !isPassing(problem) || Date.now() - startedAtMs > endMs) throw problem;
    }
    await delay(waitMs);
  }
}
