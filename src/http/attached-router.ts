import type { Request } from 'express';
import { IntentError } from '../errors.js';
import type { IntentUser } from './hooks.js';
import type { Limit } from './limits/rate-limiting.js';
import type { RouterContext } from './router-context.js';

/** The router that a request passed through. */
export interface AttachedRouter {
  readonly context: RouterContext;
  /** The mount path of the router; empty at the root. */
  readonly baseUrl: string;
  /** Counts a request against the limit of `GET /status/:id`. */
  readonly countStatus: Limit;
}

const routers = new WeakMap<Request, AttachedRouter>();

/** Lets the guards of the app's own routes find the router. */
export function attachRouter(req: Request, context: RouterContext, countStatus: Limit): void {
  routers.set(req, { context, baseUrl: req.baseUrl, countStatus });
  req.intent ??= unguardedIntent;
  if (!('payment' in req)) Object.defineProperty(requestPrototypeOf(req), 'payment', unguardedPayment);
}

/** @throws {IntentError} `router_missing` if the request passed through no router */
export function requireRouter(req: Request): AttachedRouter {
  const router = routers.get(req);
  if (router) return router;
  throw new IntentError(
    'router_missing',
    'No intentRouter() handled this request. Call app.use(intentRouter()) before the routes that use requireLogin(), ' +
      'currentUser(), logOut() or requirePayment().',
  );
}

/** `req.intent` on a route without `requireLogin()`. Throws, because no user was verified. */
const unguardedIntent: { readonly user: IntentUser } = Object.freeze({
  get user(): never {
    throw new IntentError(
      'guard_missing',
      'This route has no requireLogin(). Add it, or call `await currentUser(req)`, which returns undefined for a visitor ' +
        'who is not logged in.',
    );
  },
});

/**
 * `req.payment` on a route without `requirePayment()`, on the prototype of the app's requests. Throws, because no payment was
 * verified. A value that is assigned replaces it for that request.
 */
const unguardedPayment: PropertyDescriptor = {
  configurable: true,
  get(): never {
    throw new IntentError('guard_missing', 'This route has no requirePayment(), which sets req.payment. Add it.');
  },
  set(this: Request, value: unknown) {
    Object.defineProperty(this, 'payment', { value, configurable: true, enumerable: true, writable: true });
  },
};

/** The prototype that Express gives to the requests of an app. The types do not have it. */
function requestPrototypeOf({ app }: Request): object {
  return (app as unknown as { readonly request: object }).request;
}
