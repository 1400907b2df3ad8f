import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { IntentError } from '../../errors.js';
import { isOnOrigin } from '../../intents/is-on-origin.js';

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
  const { origin, 'sec-fetch-site': site } = req.headers;
  const host = req.headers.host ?? req.headers[':authority'];
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

/** The local origin of this server, derived from a connection to it; undefined once the connection is closed. */
export function localOriginOf({ socket }: IncomingMessage): string | undefined {
  const { localPort: port, localAddress } = socket;
  if (port === undefined) return undefined;
  // A server that listens only on ::1 is unreachable at 127.0.0.1.
  return `http://${localAddress === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}

/** An absolute path in ASCII, as headers require. */
const pathForm = /^\/[\x21-\x7e]*$/;
const anySite = 'https://site.invalid';

export const notOwnPath = 'It must be a path on this site, in ASCII without spaces.';

/** Whether a redirect to this path stays on the site. */
export function isOwnPath(path: unknown): path is string {
  if (typeof path !== 'string' || !pathForm.test(path) || !URL.canParse(path, anySite)) return false;
  return isOnOrigin(new URL(path, anySite).href, [anySite]);
}

/** Whether the request is a page view: GET or HEAD by a client that prefers HTML to JSON, as browsers do. */
export function isPageView(req: Request): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && prefersHtml(req);
}

/** Whether the client prefers HTML to JSON, as browsers do when they open a page or submit a form. */
export function prefersHtml(req: Request): boolean {
  return req.accepts(['json', 'html']) === 'html';
}
