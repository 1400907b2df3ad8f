import { requireJson } from '../request/read-json-body.js';
import { sendEmpty } from '../response/respond.js';
import type { Handler } from '../router-context.js';
import type { SessionStore } from './session-store.js';

/** `DELETE /session`: logs out, 204; also when nobody was logged in. */
export function logOutHandler(sessions: SessionStore): Handler {
  return async (req, res) => {
    // There need be no body. One of a kind that a form can send is none of ours.
    if (req.headers['content-type'] !== undefined) requireJson(req);
    await sessions.end(req, res);
    sendEmpty(res, 204);
  };
}
