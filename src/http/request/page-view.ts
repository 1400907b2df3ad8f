import type { Request } from 'express';
import { isOnOrigin } from '../../intents/return-address.js';

/** A path of any site, and a header takes ASCII alone. */
const pathForm = /^\/[\x21-\x7e]*$/;
const anySite = 'https://site.invalid';

/** Whether a page view can be sent there without leaving the site. */
export function isOwnPath(path: unknown): path is string {
  if (typeof path !== 'string' || !pathForm.test(path) || !URL.canParse(path, anySite)) return false;
  return isOnOrigin(new URL(path, anySite).href, [anySite]);
}

/** Whether somebody looks at a page, and not a program at data. */
export function isPageView(req: Request): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && req.accepts(['json', 'html']) === 'html';
}
