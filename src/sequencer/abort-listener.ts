/** Calls `act` once, with the signal, when one of these is aborted. @returns what ends the listening */
export function listenForAbort(
  signals: readonly (AbortSignal | undefined)[],
  act: (aborted: AbortSignal) => void,
): () => void {
  const stops: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const listener = (): void => act(signal);
    signal.addEventListener('abort', listener, { once: true });
    stops.push(() => signal.removeEventListener('abort', listener));
  }
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}
