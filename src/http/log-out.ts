import { requireSameOrigin } from './origin-guard.js';
import { sendEmpty } from './respond.js';
import type { Handler, RouterContext } from './router-context.js';
import type { SessionStore } from './session-store.js';

/** `DELETE /session`: logs out, 204; also when nobody was logged in. */
export function logOutHandler({ config }: RouterContext, sessions: SessionStore): Handler {
  return async (req, res) => {
    requireSameOrigin(req, config.origin);
    await sessions.end(req, res);
    sendEmpty(res, 204);
  };
}
