import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { IntentError, readError, SequencerError } from '../../errors.js';

/** Refuses pages of other origins. Programs, which send no Origin, are allowed. */
export const requireOwnOrigin: RequestHandler = (req, res, next) => {
  const { origin, host } = req.headers;
  if (origin === undefined || origin === `http://${host}`) return next();
  const message = 'Only the pages of the simulator may use this API.';
  res.status(403).json({ error: { code: 'cross_site_request', message } });
};

// Pages of other origins can send forms and plain text without a preflight, but not JSON.
const requireJson: RequestHandler = (req, _res, next) => {
  next(req.is('application/json') ? undefined : new IntentError('unsupported_media_type'));
};

export const parseJson: readonly RequestHandler[] = [requireJson, express.json({ limit: '4kb' })];

/** Passes errors of an async handler to `next`. Express 5 does this itself, Express 4 does not. */
export function asyncHandler(handler: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handler(req, res).catch(next);
  };
}

/** Sends the whole error message, including that of the simulator, because its reader is a developer. */
export const answerError: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) return next(error);
  const known = error instanceof IntentError ? error : fromParser(error);
  const message = (known instanceof SequencerError && known.serviceMessage) || known.message;
  res.status(known.status).json({ error: { code: known.code, message } });
};

function fromParser(error: unknown): IntentError {
  const { status } = readError(error);
  if (status === 413) return new IntentError('body_too_large');
  if (status === 415) return new IntentError('unsupported_media_type');
  return new IntentError(status === 400 ? 'invalid_json' : 'internal_error');
}
