import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';
import session from 'express-session';

/**
 * The session of a visitor. It must come before the intent router, which keeps the login in it and renews it then.
 *
 * Nothing is given as `store`, so sessions are kept in memory and end with the process: fine for an example, and the
 * first thing to change in a shop that is one. The secret is new at every start for the same reason.
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
