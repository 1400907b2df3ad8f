import { sendJson } from '../response/respond.js';
import type { Handler } from '../router-context.js';
import type { SessionStore } from './session-store.js';

/** `GET /session`: who is logged in, `{ user: { id } }` or `{ user: null }`. */
export function showSessionHandler(sessions: SessionStore): Handler {
  return async (req, res) => {
    sendJson(res, 200, { user: (await sessions.read(req)) ?? null });
  };
}
