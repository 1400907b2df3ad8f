import type { WatchClock } from '../../../src/sequencer/watch/watch-intent.js';

/** A clock and a random source that the test controls. */
export class FakeClock implements WatchClock {
  nowMs = 0;
  chance = 0.5;
  readonly #timers = new Map<object, { atMs: number; elapsed: () => void }>();

  readonly now = (): number => this.nowMs;
  readonly random = (): number => this.chance;
  readonly startTimer = (elapsed: () => void, delayMs: number): (() => void) => {
    const key = {};
    this.#timers.set(key, { atMs: this.nowMs + delayMs, elapsed });
    return () => this.#timers.delete(key);
  };

  /** The number of running timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the clock timer by timer, and runs the code that waits for each. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    await settled();
    for (;;) {
      const [first] = [...this.#timers].sort(([, a], [, b]) => a.atMs - b.atMs);
      if (!first || first[1].atMs > endMs) break;
      this.#timers.delete(first[0]);
      this.nowMs = Math.max(this.nowMs, first[1].atMs);
      first[1].elapsed();
      await settled();
    }
    this.nowMs = endMs;
  }
}

/** Resolves when all pending callbacks have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
