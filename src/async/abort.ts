/** What can end a call early: an `AbortSignal` is one. */
export interface Abortable {
  /** Whether it has been aborted already. */
  readonly aborted: boolean;
  /** What a call that it ends rejects with. */
  readonly reason: unknown;
  /** Calls the listener when it is aborted; not where that has happened before. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Ends what `addEventListener` has begun with the same listener. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `AbortController` and its signal in one, for those that every request has and hardly any uses: the engine's own cost
 * as much as a call upstream.
 */
export class Abort implements Abortable {
  readonly #listeners = new Set<() => void>();
  aborted = false;
  reason: unknown;

  /** Tells all who listen; the first time counts. */
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

/** @throws the reason of the first that is aborted */
export function throwIfAborted(...signals: readonly (Abortable | undefined)[]): void {
  for (const signal of signals) if (signal?.aborted) throw signal.reason;
}

/** Calls `act` once, with the signal, when one of these is aborted. @returns what ends the listening */
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
