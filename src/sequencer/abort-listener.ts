/** What can end a call early: an `AbortSignal`, or what does the same for a tenth of its cost. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
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
