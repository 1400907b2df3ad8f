import type { Request } from 'express';
import { IntentError } from '../errors.js';
import type { IntentUser } from './hooks.js';
import type { Limit } from './limits/rate-limiting.js';
import type { RouterContext } from './router-context.js';

/** The router that a request has passed. */
export interface AttachedRouter {
  readonly context: RouterContext;
  /** The path that the router is mounted under; empty at the root. */
  readonly baseUrl: string;
  /** Counts a request against the limit of `GET /status/:id`. */
  readonly countStatus: Limit;
}

const routers = new WeakMap<Request, AttachedRouter>();

/** Makes the router known to the guards of the app's own routes. */
export function attachRouter(req: Request, context: RouterContext, countStatus: Limit): void {
  routers.set(req, { context, baseUrl: req.baseUrl, countStatus });
  req.intent ??= unguardedIntent;
}

/** @throws {IntentError} `router_missing` when the request has passed no router */
export function requireRouter(req: Request): AttachedRouter {
  const router = routers.get(req);
  if (router) return router;
  throw new IntentError(
    'router_missing',
    'Put app.use(intentRouter()) before the routes that ask who is logged in, or what was paid.',
  );
}

/** `req.intent` on a route without `requireLogin()`. It throws, so that no route mistakes an unknown visitor for a user. */
const unguardedIntent: { readonly user: IntentUser } = Object.freeze({
  get user(): never {
    throw new IntentError(
      'guard_missing',
      'Put requireLogin() in front of this route, or ask with `await currentUser(req)`, which may be undefined.',
    );
  },
});
