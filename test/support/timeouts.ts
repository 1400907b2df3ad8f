import { jest } from '@jest/globals';

/**
 * Holds the timeouts of code under test that have exactly this duration, whether timers or `AbortSignal.timeout`, until the
 * test lets them expire; all others run. For one test: jest restores it.
 * @returns expires the timeouts that were started since the last call, except the timers that were cleared
 */
export function holdTimeouts(durationMs: number): () => void {
  const realSignal = AbortSignal.timeout.bind(AbortSignal);
  const [realTimer, realClear] = [setTimeout, clearTimeout];
  /** By the timer or signal. */
  const held = new Map<unknown, () => void>();
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== durationMs) return realSignal(ms);
    const controller = new AbortController();
    held.set(controller.signal, () => controller.abort(new DOMException('', 'TimeoutError')));
    return controller.signal;
  });
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms?: number, ...args: []) => {
    if (ms !== durationMs) return realTimer(callback, ms, ...args);
    // A timer that never fires, for `unref` and `clearTimeout`.
    const timer = realTimer(() => undefined, 2 ** 31 - 1).unref();
    held.set(timer, callback);
    return timer;
  }) as typeof setTimeout);
  jest.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    held.delete(timer);
    realClear(timer);
  });
  return () => {
    const expiring = [...held.values()];
    held.clear();
    for (const expire of expiring) expire();
  };
}
