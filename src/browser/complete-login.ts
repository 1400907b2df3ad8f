import { call } from './api.js';
import { open } from './begin.js';
import type { IntentFlow } from './intent-flow.js';
import { persist } from './persist.js';
import { isRefusal, isUnheard, type Problem } from './problem.js';

/** Whoever is logged in. */
export interface User {
  /** Who the person is at this domain, Base58. */
  readonly id: string;
}

/** Who is logged in; or, where the site asks first, who would be. */
type Completion = { readonly user: User } | { readonly user?: never; readonly confirm: { readonly user: User } };

const patienceMs = 120_000;

/**
 * Completes a login that the wallet has confirmed (interface section 4.7): the server asks who it was and keeps it in the
 * session. Where the site asks first, so does the dialog, also when it was closed meanwhile, or was never open since a
 * reload. What passes by itself is tried again. An answer that was lost may have told of success, so before it gives up,
 * and only then, it asks who is logged in.
 * @returns undefined where the person says no, and with that closes the dialog
 * @throws {Problem}
 */
export async function completeLogin(flow: IntentFlow, id: string, signal: AbortSignal): Promise<User | undefined> {
  const { session } = flow.settings.routes;
  let isLost = false;
  const isPassing = (problem: Problem): boolean => {
    isLost ||= isUnheard(problem);
    return !isRefusal(problem);
  };
  let confirm: boolean | undefined;
  const complete = async (): Promise<User | undefined> => {
    const answer = await call<Completion>(session, signal, JSON.stringify({ id, confirm }));
    if (answer.user) return answer.user;
    const { askUser } = await import('./ask-user.js');
    await open(flow);
    confirm = await askUser(flow.dialog.element, answer.confirm.user.id);
    return confirm ? complete() : undefined;
  };
  try {
    return await persist(signal, patienceMs, isPassing, complete);
  } catch (problem) {
    const known = isLost && (await call<{ user?: User }>(session, signal).catch(() => undefined))?.user;
    if (known) return known;
    throw problem;
  }
}
