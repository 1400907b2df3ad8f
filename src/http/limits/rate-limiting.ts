import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { AugmentedRequest, Options, RateLimitInfo, RateLimitRequestHandler } from 'express-rate-limit';
import type { RequestLimits } from '../../config/config-options.js';
import type { LimitConfig } from '../../config/limits.js';
import { IntentError } from '../../errors.js';
import type { Logger } from '../logger.js';
import type { Handler } from '../router-context.js';
import { networkFactor, type RateLimitKey, rateLimitKey } from './rate-limit-key.js';
import { type Clocks, FallbackStore, MemoryStore, SharedStoreState } from './rate-limit-stores.js';

export type LimitedRoute = keyof RequestLimits;

const windowMs = 60_000;

/** Counts a request. Resolves if it may proceed. @throws {IntentError} `rate_limited` */
export type RateLimiter = (req: Request, res: Response) => Promise<void>;

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
  if (!requests) return () => async () => undefined;
  const created = new Map<LimitedRoute, RateLimiter>();
  const context = { limits: requests, store, sharedState: new SharedStoreState(logger, clocks), clocks };
  return (route) => {
    const limit = created.get(route) ?? createLimit(route, context);
    created.set(route, limit);
    return limit;
  };
}

export function withRateLimit(limit: RateLimiter, handler: Handler): Handler {
  return async (req, res, path) => {
    await limit(req, res);
    await handler(req, res, path);
  };
}

/** The limit of an address and, for IPv6, the higher limit of the /48 around it. */
function createLimit(route: LimitedRoute, context: LimitContext): RateLimiter {
  const max = context.limits[route];
  const byAddress = limitBy(({ address }) => address, route, max, context);
  const byNetwork = limitBy(({ network }) => network ?? '', route, max * networkFactor, context);
  return async (req, res) => {
    const { network } = rateLimitKey(req.ip);
    await byAddress(req, res);
    if (network !== undefined) await byNetwork(req, res);
  };
}

function limitBy(
  part: (key: RateLimitKey) => string,
  route: LimitedRoute,
  max: number,
  { store: shared, sharedState, clocks }: LimitContext,
): (req: Request, res: Response) => Promise<void> {
  const local = new MemoryStore(windowMs, clocks);
  // Below the limit the headers would take up to a fifth of the CPU of a status request.
  const sendsHeadersBelowLimit = shared !== undefined || route === 'webhook';
  const options: Partial<Options> = {
    windowMs,
    limit: max,
    requestPropertyName,
    identifier: route,
    standardHeaders: sendsHeadersBelowLimit ? 'draft-8' : false,
    legacyHeaders: false,
    handler: (req, res, next) => {
      const { key, resetTime } = (req as AugmentedRequest)[requestPropertyName] as RateLimitInfo;
      const retryAfterMs = resetTime ? resetTime.getTime() - clocks.now() : windowMs;
      if (!sendsHeadersBelowLimit) setHeaders(res, { route, max, key, retryAfterMs });
      const message = 'Too many requests from this address. Wait the number of seconds in Retry-After, then retry.';
      next(new IntentError('rate_limited', message, { retryAfterMs }));
    },
    store: shared ? new FallbackStore(shared, local, sharedState) : local,
    // A shared store holds the counts of all routes.
    keyGenerator: ({ ip }) => (shared ? `${route}:${part(rateLimitKey(ip))}` : part(rateLimitKey(ip))),
    // Only 4xx counts: the service calls once or more for each payment, and repeats calls that failed with 5xx.
    skipSuccessfulRequests: route === 'webhook',
    requestWasSuccessful: (_req, res) => res.statusCode < 400 || res.statusCode > 499,
    // The router has its own setup warnings.
    validate: false,
  };
  let loading: Promise<RateLimitRequestHandler> | undefined;
  return async (req, res) => {
    loading ??= import('express-rate-limit').then(({ rateLimit }) => rateLimit(options));
    await runLimiter(await loading, req, res);
  };
}

/** The request property of express-rate-limit's counts. The app may use the default name itself. */
const requestPropertyName = 'intentRateLimit';

interface Refusal {
  readonly route: LimitedRoute;
  readonly max: number;
  readonly key: string;
  readonly retryAfterMs: number;
}

/** The same headers as express-rate-limit (draft-ietf-httpapi-ratelimit-headers-08). */
function setHeaders(res: Response, { route, max, key, retryAfterMs }: Refusal): void {
  const partition = Buffer.from(hash('sha256', key).slice(0, 12)).toString('base64');
  res.setHeader('RateLimit', `"${route}"; r=0; t=${Math.ceil(retryAfterMs / 1_000)}`);
  res.setHeader('RateLimit-Policy', `"${route}"; q=${max}; w=${windowMs / 1_000}; pk=:${partition}:`);
}

function runLimiter(limiter: RateLimitRequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void limiter(req, res, (error?: unknown) => (error ? reject(error) : resolve()));
  });
}
