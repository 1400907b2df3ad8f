import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request, RequestHandler } from 'express';
import session from 'express-session';

const name = 'visitor';

/**
 * Identifies a browser, with or without a login. A login regenerates the session, and earlier orders must stay visible.
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

/** Identifies the browser of a request by a hash of its cookie, so the ledger does not contain the cookie. */
export function visitorOf(req: Request): string {
  return req.res?.locals.visitor;
}

/**
 * The session of a visitor. Mount it before the intent router, which regenerates the session at login.
 *
 * A real shop passes a `store` and a fixed `secret`. Without a `store`, sessions are in memory and end with the process.
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
