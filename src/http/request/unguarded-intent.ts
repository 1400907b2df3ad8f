import { IntentError } from '../../errors.js';
import type { IntentUser } from '../session/session-store.js';

/** What `req.intent` is until a guard has let the request in, so that nobody takes an unknown visitor for a user. */
export const unguardedIntent: { readonly user: IntentUser } = Object.freeze({
  get user(): never {
    throw new IntentError(
      'guard_missing',
      'Put requireLogin() in front of this route, or ask with `await currentUser(req)`, which may be undefined.',
    );
  },
});
