import type { Request } from 'express';
import { IntentError } from '../errors.js';

/**
 * Refuses a change of state that no page of this site has asked for.
 *
 * Browsers say where a request comes from in `Sec-Fetch-Site`, and those that do not know it in `Origin`; no script of a
 * page can change either. A request with neither is let go too: it may be an old browser's, which carries the cookies of
 * an unwitting user. A program says in `Origin` which site it means.
 * @param ownOrigin without it the scheme and host that the browser asked for are all there is to compare with
 * @throws {IntentError} `cross_site_request`
 */
export function requireSameOrigin(req: Request, ownOrigin: string | undefined): void {
  const { origin, host, 'sec-fetch-site': site } = req.headers;
  if (site === 'same-origin') return;
  if (site === undefined && origin === (ownOrigin ?? `${req.protocol}://${host}`)) return;
  const own = ownOrigin ? `, such as curl -H 'Origin: ${ownOrigin}'` : '';
  throw new IntentError(
    'cross_site_request',
    `Only pages of this site may do this; a program names it in Origin${own}.`,
  );
}
