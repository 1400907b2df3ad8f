import { createHash, randomUUID } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request, RequestHandler } from 'express';

const name = 'visitor';

/**
 * Knows a browser again, logged in or not. The session will not do for this: a login renews it and leaves nothing in it, and
 * somebody who pays after logging in still wants to see the thanks for what was begun before.
 */
export function visitorCookie(): RequestHandler {
  return (req, res, next) => {
    const known = parseCookie(req.headers.cookie ?? '')[name];
    const visitor = known || randomUUID();
    if (!known) res.cookie(name, visitor, { httpOnly: true, sameSite: 'lax', secure: req.secure });
    res.locals.visitor = createHash('sha256').update(visitor).digest('base64url');
    next();
  };
}

/** The browser a request comes from: a hash of its cookie, so that whoever reads what is kept cannot come as that browser. */
export function visitorOf(req: Request): string {
  return req.res?.locals.visitor;
}
