import { setImmediate } from 'node:timers/promises';

/** Waits until something holds that sockets have to be waited for; fails with what was to hold. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`It did not come to this: ${what}.`);
    await setImmediate();
  }
}
