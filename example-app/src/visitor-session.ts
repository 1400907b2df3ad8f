import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request, RequestHandler } from 'express';
import session from 'express-session';

const name = 'visitor';

/**
 * Recognizes a browser, logged in or not. The session cannot do this: a login renews it and leaves nothing in it, and somebody
 * who pays after logging in still wants to see the thanks for an earlier order.
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

/** The browser a request comes from: a hash of its cookie, so that a reader of the ledger cannot come as that browser. */
export function visitorOf(req: Request): string {
  return req.res?.locals.visitor;
}

/**
 * The session of a visitor. It must come before the intent router, which keeps the login in it and renews it then.
 *
 * Without a `store` sessions are kept in memory and end with the process: fine for an example, and the first thing to change in
 * a real shop. The secret is new at every start for the same reason.
 */
export function visitorSession(): RequestHandler {
  return session({
    name: 'shop',
    secret: randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto' },
  });
}
