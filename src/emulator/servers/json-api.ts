import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { IntentError, SequencerError } from '../../errors.js';
import { readError } from '../outbound/read-error.js';

// A page of another site can send a form or plain text without asking; JSON it cannot.
const requireJson: RequestHandler = (req, _res, next) => {
  next(req.is('application/json') ? undefined : new IntentError('unsupported_media_type'));
};

/** Reads a body of JSON for the APIs of the pages. */
export const parseJson: readonly RequestHandler[] = [requireJson, express.json({ limit: '4kb' })];

/** Says what happened in full: this is a tool for developers, and the machine is theirs. */
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
