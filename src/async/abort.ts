/** What can end a call early. An `AbortSignal` is one. */
export interface Abortable {
  /** Whether it is aborted. */
  readonly aborted: boolean;
  /** The reason with which a call that it ends rejects. */
  readonly reason: unknown;
  /** Calls the listener on abort; not if it is aborted already. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `AbortController` and its signal in one object, for what every request needs and few requests use: a pair of the
 * engine's own costs as much as a call upstream.
 */
export class Abort implements Abortable {
  readonly #listeners = new Set<() => void>();
  aborted = false;
  reason: unknown;

  /** Calls the listeners. Only the first abort counts. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** @throws the reason of the first signal that is aborted */
export function throwIfAborted(...signals: readonly (Abortable | undefined)[]): void {
  for (const signal of signals) if (signal?.aborted) throw signal.reason;
}

/** Calls `act` with each signal that is aborted from now on. @returns a function that stops listening */
export function listenForAbort(
  signals: readonly (Abortable | undefined)[],
  act: (aborted: Abortable) => void,
): () => void {
  const stops: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const listener = (): void => act(signal);
    signal.addEventListener('abort', listener);
    stops.push(() => signal.removeEventListener('abort', listener));
  }
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}
