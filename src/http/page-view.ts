import type { Request } from 'express';

// Browsers read `//`, `/\` and a tab in between as the begin of another host; a header takes ASCII alone.
const pathOfThisSite = /^\/(?![/\\])[\x21-\x7e]*$/;

/** Whether a page view can be sent there without leaving the site. */
export function isOwnPath(path: unknown): path is string {
  return typeof path === 'string' && pathOfThisSite.test(path);
}

/** Whether somebody looks at a page, and not a program at data. */
export function isPageView(req: Request): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && req.accepts(['json', 'html']) === 'html';
}
