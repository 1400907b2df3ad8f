import { delay } from './delay.js';
import { type Problem, problemOf } from './problem.js';

/**
 * How long to wait before asking again, in milliseconds: longer after each failure, and not in step with everybody else whom
 * the same outage has met.
 */
export const backOffMs = (failures: number): number => Math.min(500 * 2 ** failures, 8_000) * (1 + Math.random() / 2);

/**
 * Acts until that works, for as long as what goes wrong passes by itself.
 * @param act is told how often it has failed so far
 * @param patienceMs when no other wait begins, in milliseconds from now
 * @throws {Problem} the last one; whatever it is, when the signal was aborted meanwhile
 */
export async function persist<Value>(
  signal: AbortSignal,
  patienceMs: number,
  isPassing: (problem: Problem) => boolean,
  act: (failures: number) => Promise<Value>,
): Promise<Value> {
  const endsAtMs = Date.now() + patienceMs;
  for (let failures = 0; ; failures += 1) {
    try {
      signal.throwIfAborted();
      return await act(failures);
    } catch (error) {
      const problem = problemOf(error);
      if (signal.aborted || !isPassing(problem) || Date.now() > endsAtMs) throw problem;
      await delay(backOffMs(failures));
    }
  }
}
