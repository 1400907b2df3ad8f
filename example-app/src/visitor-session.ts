import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import session from 'express-session';

declare module 'express-session' {
  interface SessionData {
    /** Ids of the orders this browser session has begun, the newest last. */
    orders?: readonly string[];
  }
}

/** How many orders a session remembers. */
const remembered = 20;

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

export function rememberOrder(req: Request, id: string): void {
  req.session.orders = [...(req.session.orders ?? []), id].slice(-remembered);
}

/** Whether this browser session has begun the order: nobody else is shown it. */
export function hasBegun(req: Request, id: string): boolean {
  return req.session.orders?.includes(id) ?? false;
}
