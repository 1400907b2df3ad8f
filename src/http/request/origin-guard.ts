import type { Request } from 'express';
import { IntentError } from '../../errors.js';

/**
 * Rejects a state change that was not requested by a page of this site.
 *
 * Browsers send `Sec-Fetch-Site`, older ones only `Origin`. Scripts can change neither. A request with neither is rejected: an
 * old browser may have sent it with the user's cookies. API clients must send `Origin`.
 * An `Origin` that differs from the configured one is always rejected: after DNS rebinding, a browser reports a page of another
 * domain as same-origin.
 * @param ownOrigin if undefined, `Origin` is compared with the `Host` of the request
 * @throws {IntentError} `cross_site_request`
 */
export function requireSameOrigin(req: Request, ownOrigin: string | undefined): void {
  const { headers } = req;
  const { origin, 'sec-fetch-site': site } = headers;
  const host = headers.host ?? headers[':authority'];
  const isForeign = ownOrigin !== undefined && origin !== undefined && origin !== ownOrigin;
  if (host && !isForeign) {
    if (site === 'same-origin') return;
    if (site === undefined && origin === (ownOrigin ?? `${req.protocol}://${host}`)) return;
  }
  const own = ownOrigin ? `, for example curl -H 'Origin: ${ownOrigin}'` : '';
  // The developer may have opened the site at another name, such as 127.0.0.1.
  const fix = isForeign
    ? `The Origin of this request is not ${ownOrigin} (INTENT_ORIGIN). Open the site there, or correct INTENT_ORIGIN.`
    : 'Send this request from a page of this site.';
  throw new IntentError('cross_site_request', `${fix} An API client must send the site's Origin${own}.`);
}

/** Rejects a read by a page of another site, before the rate limit. @throws {IntentError} `cross_site_request` */
export function rejectCrossSite({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return;
  throw new IntentError(
    'cross_site_request',
    'Pages of other sites cannot read this. Request it from a page of this site, or from a server.',
  );
}
