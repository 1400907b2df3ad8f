import { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ConfigError, IntentError } from '../errors.js';
import type { RateLimiter } from './limits/rate-limiting.js';
import type { RouterContext } from './router-context.js';

export interface AttachedRouter {
  readonly context: RouterContext;
  /** The mount path of the router; empty at the root. */
  readonly baseUrl: string;
  /** Counts a request against the limit of `GET /status/:id`. */
  readonly countStatus: RateLimiter;
}

const routers = new WeakMap<Request, AttachedRouter>();

/** The prototype of the last request, if it has the member itself. Looking for it in each request would take a microsecond. */
let prepared: unknown;

/** Lets the guards of the app's own routes find the router. */
export function attachRouter(req: Request, router: AttachedRouter): void {
  routers.set(req, router);
  const prototype: object = Object.getPrototypeOf(req);
  if (prototype === prepared) return;
  if (!('intent' in req)) addIntentMember(req);
  if (Object.hasOwn(prototype, 'intent')) prepared = prototype;
}

/** @throws {IntentError} `router_missing` if the request passed through no router */
export function requireRouter(req: Request): AttachedRouter {
  const router = routers.get(req);
  if (router) return router;
  throw new IntentError(
    'router_missing',
    'No intentRouter() handled this request. Call app.use(intentRouter()) before the routes that use requireLogin(), ' +
      'currentUser(), logOut() or requirePayment(). A router mounted under a path handles only requests under this path. ' +
      'If two copies of express-intents are installed, import the router and the guards from the same copy.',
  );
}

/**
 * Defines `req.intent` once for all requests of an app. Defining it on every request would cost 2 µs, because Express has
 * replaced the prototype of the request and each new member then changes its shape.
 */
function addIntentMember(req: Request): void {
  Object.defineProperty(requestPrototypeOf(req), 'intent', {
    configurable: true,
    get(this: Request) {
      return routers.has(this) ? unguarded : undefined;
    },
    set(this: Request, value: unknown) {
      Object.defineProperty(this, 'intent', { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

/** The prototype of the requests of the app at the root; the request itself without Express. */
function requestPrototypeOf(req: Request): object {
  let found: object = req;
  for (let next = Object.getPrototypeOf(req); next && Object.hasOwn(next, 'app'); next = Object.getPrototypeOf(next)) {
    found = next;
  }
  return found;
}

/** `req.intent` on a route without guards. Each member throws, because nothing was verified. */
const unguarded: Request['intent'] = Object.freeze({
  get user(): never {
    throw new IntentError(
      'guard_missing',
      'This route has no requireLogin(). Add it, or call `await currentUser(req)`, which returns undefined for a visitor ' +
        'who is not logged in.',
    );
  },
  get payment(): never {
    throw new IntentError('guard_missing', 'This route has no requirePayment(). Add it.');
  },
});

/** Sets what a guard has verified, and keeps what another guard of the route has. */
export function setVerified(req: Request, verified: Partial<Request['intent']>): void {
  const intent = req.intent ?? {};
  const earlier = Object.getPrototypeOf(intent) === unguarded ? intent : {};
  req.intent = Object.create(unguarded, Object.getOwnPropertyDescriptors({ ...earlier, ...verified }));
}

/**
 * Rejects a function that was passed to Express instead of the handler that it returns.
 * @param first the first argument of the function
 * @param call the correct code
 * @throws {ConfigError}
 */
export function requireCalled(first: unknown, name: string, handler: 'a router' | 'a guard', call = `${name}()`): void {
  if (!(first instanceof IncomingMessage)) return;
  const problem = `Express received the function ${name} instead of ${handler}.`;
  throw new ConfigError([{ setting: name, problem, fix: `Call it: ${call}` }]);
}
