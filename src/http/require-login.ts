import type { Request, RequestHandler, Response } from 'express';
import { ConfigError, IntentError } from '../errors.js';
import { sendProblem } from './problem.js';
import { sendEmpty } from './respond.js';
import type { RouterContext } from './router-context.js';
import type { IntentUser } from './session-store.js';

declare global {
  namespace Express {
    interface Request {
      /** Set by `requireLogin()`; absent on routes without it. */
      intent: { readonly user: IntentUser };
    }
  }
}

// Browsers read `//`, `/\` and a tab in between as the begin of another host; a header takes ASCII alone.
const pathOfThisSite = /^\/(?![/\\])[\x21-\x7e]*$/;

export interface RequireLoginOptions {
  /** A path of this site that a page view is redirected to; programs get 401 all the same. */
  readonly loginUrl?: string | undefined;
}

const contexts = new WeakMap<Request, RouterContext>();

/** Lets `requireLogin` and `currentUser` find the router that is in front of them. */
export function attachContext(req: Request, context: RouterContext): void {
  contexts.set(req, context);
}

/**
 * Guards a route: next() with `req.intent.user` when somebody is logged in, else 401 problem+json (code
 * `login_required`), or a redirect to `loginUrl` for a page view.
 * @throws {ConfigError} when `loginUrl` is not a path of this site
 */
export function requireLogin({ loginUrl }: RequireLoginOptions = {}): RequestHandler {
  if (loginUrl !== undefined && !pathOfThisSite.test(loginUrl)) {
    const problem = 'It is not a path of this site.';
    throw new ConfigError([{ setting: 'loginUrl', problem, mend: "requireLogin({ loginUrl: '/login' })" }]);
  }
  return async function requireLogin(req, res, next) {
    try {
      const user = await currentUser(req);
      if (user) {
        req.intent = { user };
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
  return requireContext(req).sessions?.read(req);
}

function requireContext(req: Request): RouterContext {
  const context = contexts.get(req);
  if (context) return context;
  throw new IntentError('router_missing', 'Put app.use(intentRouter()) before the routes that ask who is logged in.');
}

function refuse(req: Request, res: Response): void {
  sendProblem(res, new IntentError('login_required'), requireContext(req).logger);
}

function isPageView(req: Request): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && req.accepts(['json', 'html']) === 'html';
}
