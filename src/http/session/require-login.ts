import type { Request, RequestHandler, Response } from 'express';
import { ConfigError, IntentError } from '../../errors.js';
import type { Payment } from '../../ledger/payment.js';
import { problemsOfOptions } from '../../reject-unknown.js';
import { requireCalled, requireRouter, setVerified } from '../attached-router.js';
import type { IntentUser } from '../hooks.js';
import { isOwnPath, isPageView, notOwnPath, prefersHtml } from '../request/page-view.js';
import { sendError } from '../response/problem.js';
import { preventCaching, sendEmpty } from '../response/respond.js';
import { sendLoginPage } from './login-page.js';
import { endSession } from './session-routes.js';

declare global {
  namespace Express {
    interface Request {
      /** What the guards of the route have verified. Reading a member whose guard is missing throws `guard_missing`. */
      intent: {
        /** The logged-in user, after `requireLogin()`. */
        readonly user: IntentUser;
        /** The payment of this browser, after `requirePayment()`. */
        readonly payment: Payment;
      };
    }
  }
}

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** A path on this site. Page views without a login are redirected to it. Default: a small page with the button. */
  readonly loginUrl?: string | undefined;
}

/**
 * Guards a route. Calls next() with `req.intent.user` for a logged-in user. Page views without a login are redirected to
 * `loginUrl`; if it is not set, clients that prefer HTML get 401 and a page with the button. Other requests get 401 problem+json
 * (code `login_required`). Sets `Cache-Control: private, no-store` unless the app sets another.
 * @throws {ConfigError} for an unknown option, or if `loginUrl` is not a path on this site
 */
export function requireLogin(options: RequireLoginOptions = {}): RequestHandler {
  requireCalled(options, 'requireLogin', 'a guard');
  const problems = problemsOfOptions('requireLogin', options, ['loginUrl']);
  if (problems.length > 0) throw new ConfigError(problems);
  const { loginUrl } = options;
  if (loginUrl !== undefined && !isOwnPath(loginUrl)) {
    throw new ConfigError([{ setting: 'loginUrl', problem: notOwnPath, fix: "requireLogin({ loginUrl: '/login' })" }]);
  }
  return async function requireLogin(req, res, next) {
    try {
      const user = await currentUser(req);
      if (user) {
        setVerified(req, { user });
        preventCaching(res);
        return next();
      }
      // A timeout middleware of the app has answered.
      if (res.headersSent) return;
      if (loginUrl !== undefined && isPageView(req)) return sendEmpty(res, 303, { Location: loginUrl });
      if (loginUrl === undefined && prefersHtml(req)) return sendLoginPage(req, res);
      sendError(res, new IntentError('login_required'), requireRouter(req).context.logger);
    } catch (error) {
      // Express 4 ignores the promise, so a rejection would end the process.
      next(error);
    }
  };
}

/**
 * The logged-in user, on any route after `intentRouter()`; undefined for a visitor who is not logged in.
 * @throws {IntentError} `router_missing` if there is no router before the route
 */
export async function currentUser(req: Request): Promise<IntentUser | undefined> {
  return requireRouter(req).context.sessions?.read(req);
}

/**
 * Logs out, on any route after `intentRouter()`, as `DELETE /session` does. An empty session replaces a session of the app that
 * has the login; with cookie-session, `req.session` becomes null. Without a login nothing changes. Call it before the response is
 * sent, in a route that other sites cannot call: a `POST` route with the app's CSRF protection.
 * @throws {IntentError} `router_missing`; `session_unavailable` if the session store fails; `invalid_configuration` if it does
 *   not regenerate the session; `internal_error` if the response was already sent
 */
export async function logOut(req: Request, res: Response): Promise<void> {
  const { context } = requireRouter(req);
  if (res.headersSent) throw new IntentError('internal_error', 'logOut() must be called before the response is sent.');
  await endSession(context, req, res);
}
