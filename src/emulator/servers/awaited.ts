import type { Request, RequestHandler, Response } from 'express';

/** Hands what an async handler throws to next(): Express 5 does so by itself, Express 4 would let the process end. */
export function awaited(handler: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handler(req, res).catch(next);
  };
}
