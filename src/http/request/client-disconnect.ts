import type { Response } from 'express';
import type { AbortSignalLike } from '../../async/abort.js';

/** The client disconnected before the response was sent. Not logged, and no response is sent. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super('The client disconnected before the response was sent.');
    this.name = 'ClientDisconnectedError';
  }
}

export function disconnectSignal(res: Response): AbortSignalLike {
  return new DisconnectSignal(res);
}

/** Aborted once the response has closed unfinished. Listens to the response only if a caller waits for the event. */
class DisconnectSignal implements AbortSignalLike {
  readonly #res: Response;
  #listeners: Set<() => void> | undefined;
  #reason: ClientDisconnectedError | undefined;

  constructor(res: Response) {
    this.#res = res;
  }

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  get reason(): unknown {
    const res = this.#res;
    if ((res.destroyed || res.closed) && !res.writableFinished) this.#reason ??= new ClientDisconnectedError();
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= this.#listen();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  #listen(): Set<() => void> {
    const listeners = new Set<() => void>();
    // `close` is emitted once for every response, even after a complete one. `on` costs half as much as `once`.
    this.#res.on('close', () => {
      // A response of HTTP/2 has no `destroyed`.
      if (!this.#res.writableFinished) this.#reason ??= new ClientDisconnectedError();
      if (this.aborted) for (const listener of listeners) listener();
    });
    return listeners;
  }
}
