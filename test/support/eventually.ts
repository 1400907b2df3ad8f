import { setTimeout as sleep } from 'node:timers/promises';

type Check = () => unknown;

/** Longer than any event takes on a busy machine. A test that waits this long has failed. */
const limitMs = 60_000;

/**
 * Repeats a check until it neither throws nor returns false. After 60 seconds it throws the last error of the check, or
 * an error that names the condition.
 */
export function eventually(check: Check): Promise<void>;
export function eventually(condition: string, check: Check): Promise<void>;
export async function eventually(first: string | Check, second?: Check): Promise<void> {
  const check = typeof first === 'string' ? second : first;
  if (check === undefined) throw new TypeError('eventually() needs a check');
  const endMs = performance.now() + limitMs;
  for (;;) {
    let failure: unknown;
    try {
      if ((await check()) !== false) return;
      failure = new Error(`Condition not met within ${limitMs} ms: ${typeof first === 'string' ? first : check}`);
    } catch (error) {
      failure = error;
    }
    if (performance.now() > endMs) throw failure;
    await sleep(5);
  }
}
