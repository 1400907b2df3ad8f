import { runInNewContext } from 'node:vm';

/**
 * Runs synchronous work on a very long hostile input, and throws if it does not end. Jest cannot interrupt synchronous work.
 * Linear work takes milliseconds, and quadratic work hours, so the timeout does not depend on the load of the machine.
 */
export function runToEnd(work: () => void): void {
  runInNewContext('work()', { work }, { timeout: 200_000 });
}
