import type { Response } from 'express';

/** Why work was ended for which nobody waits any more. It is no fault, and there is nobody to answer. */
export class Departed extends Error {
  constructor() {
    super('The client has left before the answer.');
    this.name = 'Departed';
  }
}

/** A signal that is aborted when the client of this response leaves before it has the whole answer. */
export function departureOf(res: Response): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!res.writableFinished) controller.abort(new Departed());
  };
  // Told in any case, once, and when the answer is out as well; so that nothing is left listening.
  if (res.destroyed || res.closed) leave();
  else res.once('close', leave);
  return controller.signal;
}
