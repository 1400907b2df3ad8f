import type { Request } from 'express';
import { IntentError } from '../../errors.js';

/**
 * Refuses a change of state that no page of this site has asked for.
 *
 * Browsers say where a request comes from in `Sec-Fetch-Site`, and those that do not know it in `Origin`; no script of a
 * page can change either. A request with neither is let go too: it may be an old browser's, which carries the cookies of
 * an unwitting user. A program says in `Origin` which site it means.
 * An `Origin` that contradicts the configured one is refused whatever else is said: after DNS rebinding, a page of another
 * name is of the same origin to its browser. Without a configured origin there is only the `Host` to compare with.
 * @param ownOrigin without it the scheme and host that the browser asked for are all there is to compare with
 * @throws {IntentError} `cross_site_request`
 */
export function requireSameOrigin(req: Request, ownOrigin: string | undefined): void {
  const { origin, 'sec-fetch-site': site } = req.headers;
  const host = req.headers.host ?? req.headers[':authority'];
  const isForeign = ownOrigin !== undefined && origin !== undefined && origin !== ownOrigin;
  if (host && !isForeign) {
    if (site === 'same-origin') return;
    if (site === undefined && origin === (ownOrigin ?? `${req.protocol}://${host}`)) return;
  }
  const own = ownOrigin ? `, such as curl -H 'Origin: ${ownOrigin}'` : '';
  throw new IntentError(
    'cross_site_request',
    `Only pages of this site may do this; a program names it in Origin${own}.`,
  );
}

/**
 * Refuses a question that a page of another site asks in its visitor's name, before it is counted as theirs.
 * @throws {IntentError} `cross_site_request`
 */
export function refuseCrossSite({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return;
  throw new IntentError('cross_site_request', 'Only pages of this site may ask for this.');
}
