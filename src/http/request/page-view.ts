import type { Request } from 'express';
import { isOnOrigin } from '../../intents/is-on-origin.js';

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
