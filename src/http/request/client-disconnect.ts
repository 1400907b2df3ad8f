import type { Response } from 'express';
import { Abort, type Abortable } from '../../async/abort.js';

/** The client has disconnected before its answer was sent. It is not a fault, and nothing is answered. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super('The client has left before the answer.');
    this.name = 'ClientDisconnectedError';
  }
}

/** A signal that is aborted when the client disconnects before it has the whole answer. */
export function disconnectSignal(res: Response): Abortable {
  const signal = new Abort();
  const abort = (): void => {
    if (!res.writableFinished) signal.abort(new ClientDisconnectedError());
  };
  // `close` is emitted once for every response, also after it was sent. `on` costs half as much as `once`.
  if (res.destroyed || res.closed) abort();
  else res.on('close', abort);
  return signal;
}
