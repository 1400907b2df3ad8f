import type { Request, Response } from 'express';
import type { AugmentedRequest, Options, RateLimitRequestHandler } from 'express-rate-limit';
import type { RateLimits } from '../../config/config.js';
import { IntentError } from '../../errors.js';
import type { Handler } from '../handler.js';
import type { Logger } from '../response/logger.js';
import { SteadyStore, type StoreState } from './fallback-store.js';
import { AddressCounts } from './memory-store.js';
import { type CountedAddress, countedAddress, networkFactor } from './rate-limit-key.js';

/** What is counted by itself: each has its own limit, whatever handlers share it. */
export type LimitedRoute = 'intent' | 'session' | 'status' | 'webhook';

/** Counts a request. Resolves when it may go on; undefined where it may at once. @throws {IntentError} `rate_limited` */
export type Limit = (req: Request, res: Response) => Promise<void> | undefined;

/** The limit of a route; the same one each time it is asked for. */
export type LimitOf = (route: LimitedRoute) => Limit;

interface LimitContext {
  readonly limits: RateLimits;
  readonly logger: Logger;
  readonly now: () => number;
  readonly known: StoreState;
}

/** Where the library leaves what it has counted. The app may use it as well, under the name that it has by itself. */
const property = 'intentRateLimit';

/**
 * Limits how often an address may come. A cookie is not looked at: whoever wants another one drops it.
 * @param limits undefined where nothing is limited
 */
export function rateLimiting(limits: RateLimits | undefined, logger: Logger, now: () => number): LimitOf {
  if (!limits) return () => () => undefined;
  const created = new Map<LimitedRoute, Limit>();
  const known = { backAtMs: 0, isTold: false };
  return (route) => {
    const limit = created.get(route) ?? createLimit(route, { limits, logger, now, known });
    created.set(route, limit);
    return limit;
  };
}

/** Puts a limit in front of a handler. */
export function limited(limit: Limit, handler: Handler): Handler {
  return (req, res, path) => {
    const passing = limit(req, res);
    return passing ? passing.then(() => handler(req, res, path)) : handler(req, res, path);
  };
}

/** The limit of an address and, for IPv6, the higher one of the /48 around it. */
function createLimit(route: LimitedRoute, context: LimitContext): Limit {
  const { [route]: most } = context.limits;
  const byAddress = limitBy(({ address }) => address, { ...context, route, most });
  const byNetwork = limitBy(({ network }) => network ?? '', { ...context, route, most: most * networkFactor });
  return (req, res) => {
    const counted = countedAddress(req.ip);
    const passing = byAddress(counted, req, res);
    if (counted.network === undefined) return passing;
    return passing ? passing.then(() => byNetwork(counted, req, res)) : byNetwork(counted, req, res);
  };
}

interface OneLimit extends LimitContext {
  readonly route: LimitedRoute;
  readonly most: number;
}

/**
 * In this process alone, who is under the limit is let through by the count, and the library sees the others, which it may
 * well count again: of what a request for a status costs, it would be an eighth, and its headers another. With the site's
 * store, and where what succeeds is not counted, it sees every request.
 */
function limitBy(
  keyOf: (counted: CountedAddress) => string,
  limit: OneLimit,
): (counted: CountedAddress, req: Request, res: Response) => ReturnType<Limit> {
  const { limits, logger, now, known, route, most } = limit;
  const { windowMs, store: shared } = limits;
  const own = new AddressCounts(windowMs, now);
  const nameOf = (counted: CountedAddress): string => `${route}:${keyOf(counted)}`;
  const isCountedFirst = !shared && route !== 'webhook';
  const store = shared ? new SteadyStore({ shared, own, logger, now, known }) : own;
  const keyGenerator = ({ ip }: Request): string => nameOf(countedAddress(ip));
  let limiter: Promise<RateLimitRequestHandler> | undefined;
  return (counted, req, res) => {
    if (isCountedFirst && own.increment(nameOf(counted)).totalHits <= most) return undefined;
    limiter ??= load({ ...optionsOf(limit), store, keyGenerator });
    return limiter.then((library) => passed(library, req, res));
  };
}

function optionsOf({ limits: { windowMs }, now, route, most: limit }: OneLimit): Partial<Options> {
  const refusal = (resetTime = new Date(now() + windowMs)): IntentError =>
    new IntentError('rate_limited', 'This address has asked too often.', { retryAfterMs: resetTime.getTime() - now() });
  return {
    ...{ windowMs, limit },
    handler: (req, _res, next) => next(refusal((req as AugmentedRequest)[property]?.resetTime)),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: route,
    requestPropertyName: property,
    // The service may call as often as there are payments.
    skipSuccessfulRequests: route === 'webhook',
    // What the library would tell of a set-up that is wrong, the router tells.
    validate: false,
  };
}

async function load(options: Partial<Options>): Promise<RateLimitRequestHandler> {
  const { rateLimit } = await import('express-rate-limit');
  return rateLimit(options);
}

function passed(limiter: RateLimitRequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void limiter(req, res, (error?: unknown) => (error ? reject(error) : resolve()));
  });
}
