import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { IntentError } from '../../errors.js';
import { isOnOrigin } from '../../intents/return-address.js';

/**
 * Refuses a change of state that no page of this site has requested.
 *
 * Browsers name the source of a request in `Sec-Fetch-Site`, older ones in `Origin`, and no script can change either. A request
 * with neither is refused: it may come from an old browser, with the cookies of a user who knows nothing of it. A program
 * names the site in `Origin`.
 * An `Origin` that contradicts the configured one is refused in any case: after DNS rebinding, a browser reports a page of
 * another name as same-origin.
 * @param ownOrigin undefined where none is configured; then `Origin` is compared with the `Host` of the request
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
 * Refuses a read that a page of another site makes in the name of its visitor, before it counts against the visitor's limit.
 * @throws {IntentError} `cross_site_request`
 */
export function refuseCrossSite({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return;
  throw new IntentError('cross_site_request', 'Only pages of this site may ask for this.');
}

/** The origin of this server on this machine, as a request to it shows; undefined once the connection is closed. */
export function localOriginOf({ socket }: IncomingMessage): string | undefined {
  const { localPort: port, localAddress } = socket;
  if (port === undefined) return undefined;
  // A server that listens on ::1 alone does not answer at 127.0.0.1.
  return `http://${localAddress === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}

/** A path of any site, in ASCII, which is all that a header takes. */
const pathForm = /^\/[\x21-\x7e]*$/;
const anySite = 'https://site.invalid';

/** Whether a redirect to this path stays on the site. */
export function isOwnPath(path: unknown): path is string {
  if (typeof path !== 'string' || !pathForm.test(path) || !URL.canParse(path, anySite)) return false;
  return isOnOrigin(new URL(path, anySite).href, [anySite]);
}

/** Whether a person requests a page, and not a program data. */
export function isPageView(req: Request): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && req.accepts(['json', 'html']) === 'html';
}
