import type { Request, Response } from 'express';
import type { Routes } from '../../config/config-options.js';
import type { IntentErrorCode } from '../../errors.js';
import type { Happening, Observer } from '../../telemetry/router-event.js';
import { Departed } from '../request/client-disconnect.js';
import { problemOf } from './problem.js';

/**
 * Answers, and emits the events of refusals and of what no handler emits itself.
 * @param answer gives the error that was answered
 */
export async function observedAnswer(
  { tell }: Observer,
  name: keyof Routes,
  req: Request,
  res: Response,
  answer: () => Promise<unknown>,
): Promise<void> {
  const error = await answer();
  // A client that has disconnected was refused nothing.
  if (error instanceof Departed) return;
  const happening = error === undefined ? success(name, req, res) : refusal(name, req, codeOf(error));
  if (happening) tell(happening);
}

/** An error of a hook can itself throw when it is looked at. */
function codeOf(error: unknown): IntentErrorCode {
  try {
    return problemOf(error).code;
  } catch {
    return 'internal_error';
  }
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
