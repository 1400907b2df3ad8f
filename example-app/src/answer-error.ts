import type { ErrorRequestHandler } from 'express';
import type { Send } from './page-routes.js';
import { brokenPage, notFoundPage } from './pages/message.js';

/** Tells the visitor that it went wrong, and only the log what. */
export function answerError(send: Send): ErrorRequestHandler {
  return async (error: unknown, req, res, next) => {
    const status = statusOf(error);
    if (status >= 500) console.error(error);
    if (res.headersSent) return next(error);
    await send(req, res, status < 500 ? notFoundPage : brokenPage, status);
  };
}

/** Express gives errors that are the caller's fault a status, such as 400 for a path that cannot be decoded. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}
