import type { Request, RequestHandler, Response } from 'express';
import { ConfigError, IntentError } from '../../errors.js';
import { requireRouter } from '../attached-router.js';
import { isOwnPath, isPageView } from '../request/page-view.js';
import { sendProblem } from '../response/problem.js';
import { keepPrivate, sendEmpty } from '../response/respond.js';
import type { IntentUser } from './session-store.js';

declare global {
  namespace Express {
    interface Request {
      /** Who is logged in, behind `requireLogin()`. On a route without it, to ask for the user throws `guard_missing`. */
      intent: { readonly user: IntentUser };
    }
  }
}

/** What `requireLogin` can be told. */
export interface RequireLoginOptions {
  /** A path of this site that a page view is redirected to; programs get 401 all the same. */
  readonly loginUrl?: string | undefined;
}

/**
 * Guards a route: next() with `req.intent.user` when somebody is logged in, else 401 problem+json (code
 * `login_required`), or a redirect to `loginUrl` for a page view. What follows is sent with `Cache-Control: private, no-store`,
 * unless the app says otherwise.
 * @throws {ConfigError} when `loginUrl` is not a path of this site
 */
export function requireLogin({ loginUrl }: RequireLoginOptions = {}): RequestHandler {
  if (loginUrl !== undefined && !isOwnPath(loginUrl)) {
    const problem = 'It is not a path of this site.';
    throw new ConfigError([{ setting: 'loginUrl', problem, mend: "requireLogin({ loginUrl: '/login' })" }]);
  }
  return async function requireLogin(req, res, next) {
    try {
      const user = await currentUser(req);
      if (user) {
        req.intent = { user };
        keepPrivate(res);
        return next();
      }
    } catch (error) {
      return next(error);
    }
    if (loginUrl !== undefined && isPageView(req)) return sendEmpty(res, 303, { Location: loginUrl });
    return refuse(req, res);
  };
}

/**
 * Who is logged in, on any route behind `intentRouter()`; undefined when nobody is.
 * @throws {IntentError} `router_missing` when no router is in front of the route
 */
export async function currentUser(req: Request): Promise<IntentUser | undefined> {
  return requireRouter(req).context.sessions?.read(req);
}

function refuse(req: Request, res: Response): void {
  sendProblem(res, new IntentError('login_required'), requireRouter(req).context.logger);
}
