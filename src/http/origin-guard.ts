import type { Request } from 'express';
import { IntentError } from '../errors.js';

/**
 * Refuses a change of state that another site asked a browser for.
 *
 * Browsers say where a request comes from in `Sec-Fetch-Site`, and those that do not know it in `Origin`; scripts of a
 * page cannot change either. A request with neither is no browser's, and carries no cookie of an unwitting user.
 * @throws {IntentError} `cross_site_request`
 */
export function requireSameOrigin(req: Request, ownOrigin: string | undefined): void {
  const { origin, 'sec-fetch-site': site } = req.headers;
  if (site === 'same-origin') return;
  if (site === undefined && (origin === undefined || isOwn(origin, req, ownOrigin))) return;
  throw new IntentError('cross_site_request', 'Only pages of this site may do this.');
}

/** Without a configured origin, the host the browser asked for is all there is to compare with. */
function isOwn(origin: string, req: Request, ownOrigin: string | undefined): boolean {
  if (ownOrigin) return origin === ownOrigin;
  return URL.canParse(origin) && new URL(origin).host === req.headers.host;
}
