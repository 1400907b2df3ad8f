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

/**
 * Waits for work no longer than `ms` milliseconds, and until the signal is aborted; the work is told by a signal of its own.
 *
 * The timer is held here: what `AbortSignal.any` is made of may be collected as garbage, and a timeout that
 * was collected never goes off.
 * @throws `TimeoutError` @throws the signal's reason @throws what the work throws
 */
export async function timed<Value>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  const own = new AbortController();
  const leave = (): void => own.abort(signal.reason);
  const tooLong = (): void => own.abort(new DOMException(`It took longer than ${ms} ms.`, 'TimeoutError'));
  const timer = setTimeout(tooLong, ms).unref();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await bounded(own.signal, () => work(own.signal));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
