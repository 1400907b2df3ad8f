import type { Request } from 'express';
import { isOnOrigin } from '../../intents/return-address.js';

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
