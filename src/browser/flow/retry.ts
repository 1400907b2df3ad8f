import { NativePromise } from '../built-ins.js';
import { type Problem, toProblem } from './api.js';

export const delay = (waitMs: number): Promise<unknown> => new NativePromise((resolve) => setTimeout(resolve, waitMs));

/** Milliseconds until the next attempt: exponential with jitter, so pages do not retry at the same moment after an outage. */
export const backoffMs = (failures: number): number => Math.min(500 * 2 ** failures, 8_000) * (1 + Math.random() / 2);

/**
 * Repeats `act` until it succeeds, while `mayRetry` allows it.
 * @param retryWindowMs after this time no further retry is scheduled
 * @param act gets the number of failures so far
 * @throws {Problem} the last one, also if the signal is aborted
 */
export async function retryUntil<Value>(
  signal: AbortSignal,
  retryWindowMs: number,
  mayRetry: (problem: Problem) => boolean,
  act: (failures: number) => Promise<Value>,
): Promise<Value> {
  const endsAtMs = Date.now() + retryWindowMs;
  for (let failures = 0; ; failures += 1) {
    try {
      signal.throwIfAborted();
      return await act(failures);
    } catch (error) {
      const problem = toProblem(error);
      if (signal.aborted || !mayRetry(problem) || Date.now() > endsAtMs) throw problem;
      await delay(backoffMs(failures));
    }
  }
}
