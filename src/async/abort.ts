/** The members of an `AbortSignal` that this package uses. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  /** The error that a canceled call rejects with. */
  readonly reason: unknown;
  /** Calls the listener on abort, but not if already aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An `AbortController` and its signal in one object. The native pair costs as much CPU as a call to the sequencer. */
export class LightAbortController implements AbortSignalLike {
  #listeners: Set<() => void> | undefined;
  aborted = false;
  reason: unknown;

  /** Calls the listeners. Only the first call has an effect. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }
}

/** @throws the reason of the first aborted signal */
export function throwIfAborted(...signals: readonly (AbortSignalLike | undefined)[]): void {
  for (const signal of signals) if (signal?.aborted) throw signal.reason;
}

/** Calls `act` for each signal that aborts. @returns a function that stops listening */
export function listenForAbort(
  signals: readonly (AbortSignalLike | undefined)[],
  act: (aborted: AbortSignalLike) => void,
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
