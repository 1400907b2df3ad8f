import type { Response } from 'express';
import { Abort, type Abortable } from '../../async/abort.js';

/** The client disconnected before the response was sent. Not logged, and no response is sent. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super('The client disconnected before the response was sent.');
    this.name = 'ClientDisconnectedError';
  }
}

export function disconnectSignal(res: Response): Abortable {
  const signal = new Abort();
  const abort = (): void => {
    if (!res.writableFinished) signal.abort(new ClientDisconnectedError());
  };
  // `close` is emitted once for every response, even after a complete one. `on` costs half as much as `once`.
  if (res.destroyed || res.closed) abort();
  else res.on('close', abort);
  return signal;
}
