/** Waits for work no longer than until the signal is aborted. @throws the signal's reason @throws what the work throws */
export function bounded<Value>(signal: AbortSignal, work: () => Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    Promise.resolve()
      .then(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave));
  });
}
