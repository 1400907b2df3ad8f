import { jest } from '@jest/globals';

/**
 * Holds the timeouts that code under test takes from `AbortSignal.timeout` with exactly this duration, until the test lets
 * them expire; all others run. For one test: jest restores it.
 * @returns expires the timeouts that were taken since the last call
 */
export function holdTimeouts(durationMs: number): () => void {
  const real = AbortSignal.timeout.bind(AbortSignal);
  const held: AbortController[] = [];
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== durationMs) return real(ms);
    const controller = new AbortController();
    held.push(controller);
    return controller.signal;
  });
  return () => {
    for (const controller of held.splice(0)) controller.abort(new DOMException('', 'TimeoutError'));
  };
}
