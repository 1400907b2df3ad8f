import { setTimeout as wait } from 'node:timers/promises';

/** Waits without holding the process; gives false when `signal` is aborted meanwhile. */
export function waitFor(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { ref: false, signal }).catch(() => false);
}
