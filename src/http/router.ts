import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Routes } from '../config/config-options.js';
import { IntentError } from '../errors.js';
import { attachRouter } from './attached-router.js';
import { createIntentHandler } from './create-intent/create-intent.js';
import { elementFiles, elementsHandler } from './elements.js';
import { eventsHandler } from './events/events-route.js';
import { endOverfullPipeline } from './events/pipelined-streams.js';
import { closeConnection } from './events/running-requests.js';
import { getStatusHandler } from './events/status-route.js';
import { type LimitOf, limited, rateLimiting } from './limits/rate-limiting.js';
import { healthHandler } from './operations/health.js';
import { openApiHandler } from './operations/openapi.js';
import { setUpWarnings } from './operations/set-up-warnings.js';
import { refuseCrossSite, requireSameOrigin } from './request/origin-guard.js';
import { whileOpen } from './request/while-open.js';
import { observedAnswer } from './response/observed-answer.js';
import { sendProblem } from './response/problem.js';
import type { Handler, RouterContext } from './router-context.js';
import { completeLoginHandler } from './session/complete-login.js';
import { keyFileHandler } from './session/key-file.js';
import { logOutHandler } from './session/log-out.js';
import { showSessionHandler } from './session/show-session.js';
import { webhookHandler } from './webhook/receive-webhook.js';

/** The handlers of one path, by method. */
type Methods = Readonly<Record<string, Handler>>;

/** The routes of this package as one middleware; a request for any other path passes through untouched. */
export function createRouter(context: RouterContext): RequestHandler {
  const { config, logger, now } = context;
  const limitOf = rateLimiting(config.rateLimits, logger, now);
  const find = routeFinder(config.routes, handlersOf(context, limitOf));
  const countStatus = limitOf('status');
  const check = setUpWarnings(context);
  return function intentRouter(req: Request, res: Response, next: NextFunction) {
    if (endOverfullPipeline(req, res)) return;
    attachRouter(req, context, countStatus);
    // Whatever is answered, by the rest of the app as well: the process is about to end.
    if (context.events.isClosed) closeConnection(res);
    const route = find(req.path);
    // A load balancer comes on a way of its own, which says nothing of the one that visitors come.
    if (route?.name !== 'health') check(req);
    if (!route) return next();
    const answered = context.observer
      ? observedAnswer(context.observer, route.name, req, res, () => answer(route, req, res, context))
      : answer(route, req, res, context);
    // An error of a hook can itself throw when it is looked at; the browser is told no more than that something failed.
    answered.catch(() => sendProblem(res, undefined, logger));
  };
}

interface Route {
  readonly name: keyof Routes;
  readonly methods: Methods;
  /** What follows the route's own path: the id in `/status/:id`, else nothing. */
  readonly rest: string;
}

/** @returns what has gone wrong, which was answered */
async function answer(route: Route, req: Request, res: Response, context: RouterContext): Promise<unknown> {
  const { config, logger, running } = context;
  const { name, methods, rest } = route;
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  running.begin(res);
  try {
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!handler) throw new IntentError('method_not_allowed', `Allowed here: ${Object.keys(methods).join(', ')}.`);
    // Before anything is counted, so that a page of another site takes nothing away from those whom it sends here.
    if (method !== 'GET' && name !== 'webhook') requireSameOrigin(req, config.origin);
    if (name === 'status' || name === 'events') refuseCrossSite(req);
    await handler(req, res, rest);
    return undefined;
  } catch (error) {
    const isWrongMethod = error instanceof IntentError && error.code === 'method_not_allowed';
    sendProblem(res, error, logger, isWrongMethod ? { Allow: Object.keys(methods).join(', ') } : {});
    return error;
  } finally {
    running.end(res);
  }
}

type RouteHandlers = Readonly<Record<keyof Routes, Methods | undefined>>;

function handlersOf(context: RouterContext, limitOf: LimitOf): RouteHandlers {
  const { config, sessions, webhook, events } = context;
  const { login } = config;
  const open = whileOpen(events);
  return {
    intent: { POST: open(limited(limitOf('intent'), createIntentHandler(context))) },
    status: { GET: open(limited(limitOf('status'), getStatusHandler(context))) },
    events: { GET: limited(limitOf('status'), eventsHandler(context)) },
    elements: { GET: elementsHandler(context) },
    webhook: webhook && { POST: open(limited(limitOf('webhook'), webhookHandler(context, webhook.verify))) },
    session:
      login && sessions
        ? {
            POST: open(limited(limitOf('session'), completeLoginHandler(context, login, sessions))),
            GET: showSessionHandler(sessions),
            DELETE: limited(limitOf('session'), logOutHandler(sessions)),
          }
        : undefined,
    keyFile: login && { GET: keyFileHandler(login.keyRing.publicKeys) },
    openapi: { GET: openApiHandler(context.openApi) },
    health: { GET: healthHandler(context.health) },
  };
}

/** What comes after the route's own path, where anything does: one segment between the two. */
const suffixes: Partial<Record<keyof Routes, string>> = { status: '', events: '/events' };
/** What comes after it where that can only be one of a few names. */
const files: Partial<Record<keyof Routes, readonly string[]>> = { elements: elementFiles };

function routeFinder(routes: Routes, handlers: RouteHandlers): (path: string) => Route | undefined {
  const exact = new Map<string, Route>();
  const open: (Omit<Route, 'rest'> & { readonly prefix: string; readonly suffix: string })[] = [];
  for (const name of Object.keys(handlers) as (keyof Routes)[]) {
    const [methods, path, suffix] = [handlers[name], routes[name], suffixes[name]];
    if (!methods || path === false) continue;
    const names = files[name];
    if (names) for (const rest of names) exact.set(`${path}/${rest}`, { name, methods, rest });
    else if (suffix === undefined) exact.set(path, { name, methods, rest: '' });
    else open.push({ name, prefix: `${path}/`, suffix, methods });
  }
  return (path) => {
    const found = exact.get(path);
    if (found) return found;
    for (const { name, prefix, suffix, methods } of open) {
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const rest = path.slice(prefix.length, path.length - suffix.length);
      if (rest !== '' && !rest.includes('/')) return { name, methods, rest };
    }
    return undefined;
  };
}
