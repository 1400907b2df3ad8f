import type { Request } from 'express';
import { IntentError } from '../errors.js';
import type { Limit } from './limits/rate-limiting.js';
import { unguardedIntent } from './request/unguarded-intent.js';
import type { RouterContext } from './router-context.js';

/** The router that a request has passed. */
export interface AttachedRouter {
  readonly context: RouterContext;
  /** The path it is mounted under, which its routes come after; empty at the root. */
  readonly baseUrl: string;
  /** Counts a request against the limit of `GET /status/:id`. */
  readonly countStatus: Limit;
}

const routers = new WeakMap<Request, AttachedRouter>();

/** Lets the guards of other routes find the router that is in front of them. */
export function attachRouter(req: Request, context: RouterContext, countStatus: Limit): void {
  routers.set(req, { context, baseUrl: req.baseUrl, countStatus });
  req.intent ??= unguardedIntent;
}

/** @throws {IntentError} `router_missing` when no router is in front of the route */
export function requireRouter(req: Request): AttachedRouter {
  const router = routers.get(req);
  if (router) return router;
  throw new IntentError(
    'router_missing',
    'Put app.use(intentRouter()) before the routes that ask who is logged in, or what was paid.',
  );
}
