import { createHash } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Routes } from '../config/config-options.js';
import { IntentError } from '../errors.js';
import { type AttachedRouter, attachRouter } from './attached-router.js';
import { createIntentHandler } from './create-intent/create-intent.js';
import { elementsHandler, isElementFile } from './elements.js';
import { eventsHandler } from './events/events-route.js';
import { closeOverfullPipeline } from './events/pipelined-streams.js';
import { getStatusHandler } from './events/status-route.js';
import { handleRoute, type MatchedRoute, type Methods } from './handle-route.js';
import { type RateLimiterOf, rateLimiting, withRateLimit } from './limits/rate-limiting.js';
import { healthHandler } from './operations/health.js';
import { openApiHandler } from './operations/openapi.js';
import { proxyReporter } from './operations/proxy-report.js';
import { setupWarnings } from './operations/setup-warnings.js';
import { jsonType, sendCacheable } from './response/respond.js';
import type { Handler, RouterContext } from './router-context.js';
import { closeConnection } from './running-requests.js';
import { noteMissingSession } from './session/app-session.js';
import { completeLoginHandler, getSessionHandler, logOutHandler } from './session/session-routes.js';
import { webhookHandler } from './webhook/receive-webhook.js';

/** The routes of this package as one middleware. Requests for other paths pass through unchanged. */
export function createRouter(context: RouterContext): RequestHandler {
  const { config, logger } = context;
  const limitOf = rateLimiting(config.limits, logger, context);
  const find = routeFinder(config.routes, handlersOf(context, limitOf));
  let attached: AttachedRouter = { context, baseUrl: '', countStatus: limitOf('status') };
  const warnAboutSetup = setupWarnings(context);
  const reportProxy = proxyReporter(config.login?.cookieKeys);
  return function intentRouter(req: Request, res: Response, next: NextFunction) {
    if (closeOverfullPipeline(req, res)) return;
    // Without Express there is no `baseUrl`.
    const { baseUrl = '', url } = req;
    if (baseUrl !== attached.baseUrl) attached = { ...attached, baseUrl };
    attachRouter(req, attached);
    noteMissingSession(req);
    // Also for responses of the rest of the app: the process is about to exit.
    if (context.running.closesConnections) closeConnection(res);
    const route = find(plainPath.test(url) ? url : req.path);
    // A site whose router has a mount path can also serve some routes at its root, such as the key file. Under a wildcard the path is
    // always `/`.
    if (baseUrl !== '' && req.path !== '/') context.webhook?.setMountPath(baseUrl);
    // Load balancers connect differently from visitors: without TLS, and not through the proxy. Without a mount path, the requests
    // for routes of this package show each setup error. So other routes of the app need no checks.
    if (route ? route.name !== 'health' : baseUrl !== '') warnAboutSetup(req, baseUrl);
    if (!route) return next();
    // `express-intents doctor` gets its report from this route, whose responses are never cached. The report precedes the
    // guards, which reject some requests of the doctor.
    if (route.name === 'intent') reportProxy(req, res);
    void handleRoute(route, req, res, context);
  };
}

/** A URL that equals its path. The member `path` of Express would parse it again. */
const plainPath = /^\/[\w./-]*$/;

type RouteHandlers = Readonly<Record<keyof Routes, Methods | undefined>>;

function handlersOf(context: RouterContext, limitOf: RateLimiterOf): RouteHandlers {
  const { config, sessions, webhook } = context;
  const { login } = config;
  const unlessClosing = (handler: Handler): Handler => rejectWhileClosing(context, handler);
  return {
    intent: { POST: unlessClosing(withRateLimit(limitOf('intent'), createIntentHandler(context))) },
    status: { GET: unlessClosing(withRateLimit(limitOf('status'), getStatusHandler(context))) },
    events: { GET: withRateLimit(limitOf('status'), eventsHandler(context)) },
    elements: { GET: elementsHandler(context) },
    webhook: webhook && {
      POST: unlessClosing(withRateLimit(limitOf('webhook'), webhookHandler(context, webhook.verify))),
    },
    session:
      login && sessions
        ? {
            POST: unlessClosing(withRateLimit(limitOf('session'), completeLoginHandler(context, login, sessions))),
            GET: getSessionHandler(sessions),
            DELETE: withRateLimit(limitOf('session'), logOutHandler(context)),
          }
        : undefined,
    keyFile: login && { GET: keyFileHandler(login.keyRing.publicKeys) },
    openapi: { GET: openApiHandler(context.openApi) },
    health: { GET: healthHandler(context.health) },
  };
}

/** By then the client has a new connection, to another process. */
const retryAfterClosingMs = 1_000;

/** Rejects new requests with `closing` once the router is closed, before the rate limit. Running requests complete. */
function rejectWhileClosing({ events }: RouterContext, handler: Handler): Handler {
  return (req, res, path) => {
    if (events.isClosed) throw new IntentError('closing', undefined, { retryAfterMs: retryAfterClosingMs });
    return handler(req, res, path);
  };
}

/** Routes with one more path segment: what follows that segment, and what it may be. */
const segments: Partial<Record<keyof Routes, Pick<ParameterizedRoute, 'suffix' | 'accepts'>>> = {
  status: { suffix: '', accepts: () => true },
  events: { suffix: '/events', accepts: () => true },
  elements: { suffix: '', accepts: isElementFile },
};

interface ParameterizedRoute extends Omit<MatchedRoute, 'rest'> {
  readonly prefix: string;
  readonly suffix: string;
  readonly accepts: (segment: string) => boolean;
}

function routeFinder(routes: Routes, handlers: RouteHandlers): (path: string) => MatchedRoute | undefined {
  const exact = new Map<string, MatchedRoute>();
  const parameterized: ParameterizedRoute[] = [];
  for (const name of Object.keys(handlers) as (keyof Routes)[]) {
    const [methods, path, segment] = [handlers[name], routes[name], segments[name]];
    if (!methods || path === false) continue;
    if (segment) parameterized.push({ name, methods, prefix: `${path}/`, ...segment });
    else exact.set(path, { name, methods, rest: '' });
  }
  return (path) => {
    const found = exact.get(path);
    if (found) return found;
    for (const { name, prefix, suffix, methods, accepts } of parameterized) {
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const rest = path.slice(prefix.length, path.length - suffix.length);
      if (rest !== '' && !rest.includes('/') && accepts(rest)) return { name, methods, rest };
    }
    return undefined;
  };
}

/** `GET /.well-known/service-payments.json`: the verifier keys (interface sections 2.7 and 4.6). */
function keyFileHandler(publicKeys: readonly string[]): Handler {
  const file = Buffer.from(JSON.stringify({ public_keys: publicKeys }));
  const headers = { ETag: `"${createHash('sha256').update(file).digest('base64url')}"`, 'Content-Type': jsonType };
  return (req, res) => sendCacheable(req, res, file, headers);
}
