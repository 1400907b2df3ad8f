import type { Request, Response } from 'express';
import type { Routes } from '../config.js';
import type { IntentErrorCode } from '../errors.js';
import type { Happening } from '../telemetry/router-event.js';
import { Departed } from './departure.js';
import { problemOf } from './problem.js';
import type { RouterContext } from './router-context.js';

/** The route that a request is for. */
export interface AskedRoute {
  readonly name: keyof Routes;
  /** What follows the route's own path. */
  readonly rest: string;
}

/**
 * Answers while the observer looks on, and tells what came of it where no handler does.
 * @param answer gives what has gone wrong, which was answered
 */
export async function observedAnswer(
  { observer, config }: Pick<RouterContext, 'observer' | 'config'>,
  { name, rest }: AskedRoute,
  req: Request,
  res: Response,
  answer: () => Promise<unknown>,
): Promise<void> {
  const hasId = name === 'status' || name === 'events';
  // Without the path that the router is mounted under: a request may spell that in many ways, and each would be a series.
  const route = hasId ? patternOf(name, config.routes[name]) : req.path;
  await observer?.route({ method: req.method, route, intent: hasId ? rest : undefined }, async () => {
    const error = await answer();
    // There is nobody who was refused anything.
    if (error instanceof Departed) return { status: undefined, code: undefined };
    const code = error === undefined ? undefined : codeOf(error);
    const happening = code ? refusal(name, req, code) : success(name, req, res);
    if (happening) observer.tell(happening);
    return { status: res.statusCode, code };
  });
}

/** An error of a hook can itself throw when it is looked at. */
function codeOf(error: unknown): IntentErrorCode {
  try {
    return problemOf(error).code;
  } catch {
    return 'internal_error';
  }
}

function patternOf(name: 'status' | 'events', path: string | false): string {
  return name === 'status' ? `${path}/:id` : `${path}/:id/events`;
}

function refusal(name: keyof Routes, req: Request, code: IntentErrorCode): Happening | undefined {
  if (code === 'rate_limited') return { type: 'rate_limited', route: name };
  if (req.method !== 'POST') return undefined;
  if (name === 'intent') return { type: 'intent_refused', code, kind: kindNamedBy(req) };
  if (name === 'session') return { type: 'login_refused', code };
  return name === 'webhook' ? { type: 'webhook_refused', code } : undefined;
}

function success(name: keyof Routes, { method }: Request, { statusCode }: Response): Happening | undefined {
  return name === 'session' && method === 'DELETE' && statusCode === 204 ? { type: 'logged_out' } : undefined;
}

/** Anything may be in a body that was refused. */
function kindNamedBy({ body }: Request): 'payment' | 'login' | undefined {
  const { mode } = (body ?? {}) as { mode?: unknown };
  return mode === 'payment' || mode === 'login' ? mode : undefined;
}
