import type { Request, Response } from 'express';

/**
 * Answers one request of a route, or throws an error that is answered as a problem. `path` is what follows the path of the
 * route: the intent id in `/status/:id`, the name of a file, else nothing.
 */
export type Handler = (req: Request, res: Response, path: string) => void | Promise<void>;
