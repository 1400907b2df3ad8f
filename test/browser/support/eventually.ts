import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats what may take a moment until it no longer throws; after ten seconds, throws what it threw last. */
export async function eventually(assert: () => void | Promise<void>): Promise<void> {
  const endsAt = Date.now() + 10_000;
  for (;;) {
    try {
      return await assert();
    } catch (error) {
      if (Date.now() > endsAt) throw error;
    }
    await sleep(20);
  }
}
