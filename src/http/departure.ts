import type { Response } from 'express';
import type { Abortable } from '../sequencer/abort-listener.js';

/** Why work was ended for which nobody waits any more. It is no fault, and there is nobody to answer. */
export class Departed extends Error {
  constructor() {
    super('The client has left before the answer.');
    this.name = 'Departed';
  }
}

/** Is aborted when the client of this response leaves before it has the whole answer. */
export function departureOf(res: Response): Departure {
  return new Departure(res);
}

/** Every request has one and hardly any needs it: an `AbortSignal` for each would cost as much as a call upstream does. */
class Departure implements Abortable {
  readonly #listeners = new Set<() => void>();
  aborted = false;
  reason: unknown;

  constructor(res: Response) {
    const leave = (): void => {
      if (!res.writableFinished) this.#abort();
    };
    // Told in any case, once, and when the answer is out as well; so that nothing is left listening.
    if (res.destroyed || res.closed) leave();
    else res.once('close', leave);
  }

  /** The same as an `AbortSignal`, for who needs a real one. */
  get signal(): AbortSignal {
    const controller = new AbortController();
    const abort = (): void => controller.abort(this.reason);
    if (this.aborted) abort();
    else this.addEventListener('abort', abort);
    return controller.signal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  #abort(): void {
    this.aborted = true;
    this.reason = new Departed();
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
