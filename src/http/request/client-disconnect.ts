import type { Response } from 'express';
import { Abort, type Abortable } from '../../async/abort.js';

/** Why work was ended for which nobody waits any more. It is no fault, and there is nobody to answer. */
export class Departed extends Error {
  constructor() {
    super('The client has left before the answer.');
    this.name = 'Departed';
  }
}

/** What is aborted when the client of this response leaves before it has the whole answer. */
export function departureOf(res: Response): Abortable {
  const departure = new Abort();
  const leave = (): void => {
    if (!res.writableFinished) departure.abort(new Departed());
  };
  // Told in any case, once, and when the answer is out as well. `on` is half as dear as `once`.
  if (res.destroyed || res.closed) leave();
  else res.on('close', leave);
  return departure;
}
