import type { Request, Response } from 'express';
import type { AugmentedRequest, Options, RateLimitRequestHandler } from 'express-rate-limit';
import type { RequestLimits } from '../../config/config-options.js';
import type { LimitConfig } from '../../config/limits.js';
import { IntentError } from '../../errors.js';
import type { Logger } from '../logger.js';
import type { Handler } from '../router-context.js';
import { networkFactor, type RateLimitKey, rateLimitKey } from './rate-limit-key.js';
import { type Clocks, FallbackStore, MemoryStore, SharedStoreState } from './rate-limit-stores.js';

export type LimitedRoute = keyof RequestLimits;

const windowMs = 60_000;

/** Counts a request. Returns undefined or resolves if the request may proceed. @throws {IntentError} `rate_limited` */
export type RateLimiter = (req: Request, res: Response) => Promise<void> | undefined;

/** Returns the rate limiter of a route, always the same object. */
export type RateLimiterOf = (route: LimitedRoute) => RateLimiter;

interface LimitContext {
  readonly limits: RequestLimits;
  readonly store: LimitConfig['store'];
  readonly sharedState: SharedStoreState;
  readonly clocks: Clocks;
}

/** Limits the requests of an address, regardless of cookies. */
export function rateLimiting(
  { requests, store }: Omit<LimitConfig, 'streams'>,
  logger: Logger,
  clocks: Clocks,
): RateLimiterOf {
  if (!requests) return () => () => undefined;
  const created = new Map<LimitedRoute, RateLimiter>();
  const context = { limits: requests, store, sharedState: new SharedStoreState(logger, clocks), clocks };
  return (route) => {
    const limit = created.get(route) ?? createLimit(route, context);
    created.set(route, limit);
    return limit;
  };
}

export function withRateLimit(limit: RateLimiter, handler: Handler): Handler {
  return (req, res, path) => {
    const passing = limit(req, res);
    return passing ? passing.then(() => handler(req, res, path)) : handler(req, res, path);
  };
}

/** The limit of an address and, for IPv6, the higher limit of the /48 around it. */
function createLimit(route: LimitedRoute, context: LimitContext): RateLimiter {
  const max = context.limits[route];
  const byAddress = limitBy(({ address }) => address, route, max, context);
  const byNetwork = limitBy(({ network }) => network ?? '', route, max * networkFactor, context);
  return (req, res) => {
    const key = rateLimitKey(req.ip);
    const passing = byAddress(key, req, res);
    if (key.network === undefined) return passing;
    return passing ? passing.then(() => byNetwork(key, req, res)) : byNetwork(key, req, res);
  };
}

/**
 * Without a shared store, requests below the limit are counted in memory. express-rate-limit would add an eighth to the time of a
 * status request, and its headers another eighth. The library handles requests over the limit (and counts them again), all
 * requests with a shared store, and routes that do not count successful requests.
 */
function limitBy(
  part: (key: RateLimitKey) => string,
  route: LimitedRoute,
  max: number,
  { store: shared, sharedState, clocks }: LimitContext,
): (key: RateLimitKey, req: Request, res: Response) => ReturnType<RateLimiter> {
  const local = new MemoryStore(windowMs, clocks);
  // A shared store holds the counts of all routes.
  const nameOf = (key: RateLimitKey): string => (shared ? `${route}:${part(key)}` : part(key));
  const countsWithoutLibrary = !shared && route !== 'webhook';
  const options: Partial<Options> = {
    ...refusalOptions(route, clocks),
    limit: max,
    store: shared ? new FallbackStore(shared, local, sharedState) : local,
    keyGenerator: ({ ip }) => nameOf(rateLimitKey(ip)),
    // Only 4xx counts: the service calls once or more for each payment, and repeats calls that failed with 5xx.
    skipSuccessfulRequests: route === 'webhook',
    requestWasSuccessful: (_req, res) => res.statusCode < 400 || res.statusCode > 499,
    // The router has its own setup warnings.
    validate: false,
  };
  let library: Promise<RateLimitRequestHandler> | undefined;
  return (key, req, res) => {
    if (countsWithoutLibrary && local.hit(nameOf(key)) <= max) return undefined;
    library ??= import('express-rate-limit').then(({ rateLimit }) => rateLimit(options));
    return library.then((limiter) => runLimiter(limiter, req, res));
  };
}

/** The request property of express-rate-limit's counts. The app may use the default name itself. */
const requestPropertyName = 'intentRateLimit';

function refusalOptions(route: LimitedRoute, { now }: Clocks): Partial<Options> {
  return {
    windowMs,
    requestPropertyName,
    identifier: route,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    handler: (req, _res, next) => {
      const resetTime = (req as AugmentedRequest)[requestPropertyName]?.resetTime ?? new Date(now() + windowMs);
      const retryAfterMs = resetTime.getTime() - now();
      next(
        new IntentError(
          'rate_limited',
          'Too many requests from this address. Wait the number of seconds in Retry-After, then retry.',
          { retryAfterMs },
        ),
      );
    },
  };
}

function runLimiter(limiter: RateLimitRequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void limiter(req, res, (error?: unknown) => (error ? reject(error) : resolve()));
  });
}
