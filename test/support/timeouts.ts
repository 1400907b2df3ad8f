import { jest } from '@jest/globals';

/**
 * Holds the timeouts of code under test that have exactly one of these durations, whether timers or
 * `AbortSignal.timeout`, until the test lets them expire; all others run. For one test: jest restores it.
 * @returns expires the timeouts of one duration, by default the first, except the timers that were cleared
 */
export function holdTimeouts(firstMs: number, ...othersMs: readonly number[]): (durationMs?: number) => void {
  const realSignal = AbortSignal.timeout.bind(AbortSignal);
  const [realTimer, realClear] = [setTimeout, clearTimeout];
  /** By the timer or signal. */
  const held = new Map<unknown, { readonly ms: number; readonly expire: () => void }>();
  const isHeld = (ms: number | undefined): ms is number => ms !== undefined && [firstMs, ...othersMs].includes(ms);
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (!isHeld(ms)) return realSignal(ms);
    const controller = new AbortController();
    held.set(controller.signal, { ms, expire: () => controller.abort(new DOMException('', 'TimeoutError')) });
    return controller.signal;
  });
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((
    callback: (...args: unknown[]) => void,
    ms?: number,
    ...args: unknown[]
  ) => {
    if (!isHeld(ms)) return realTimer(callback, ms, ...args);
    // A timer that never fires, for `unref` and `clearTimeout`.
    const timer = realTimer(() => undefined, 2 ** 31 - 1).unref();
    held.set(timer, { ms, expire: () => callback(...args) });
    return timer;
  }) as typeof setTimeout);
  jest.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    held.delete(timer);
    realClear(timer);
  });
  return (durationMs = firstMs) => {
    const expiring = [...held].filter(([, { ms }]) => ms === durationMs);
    for (const [key] of expiring) held.delete(key);
    for (const [, { expire }] of expiring) expire();
  };
}
