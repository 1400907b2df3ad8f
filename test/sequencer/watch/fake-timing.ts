import type { WatchTiming } from '../../../src/sequencer/watch/watch-intent.js';

/** A clock that moves only when it is told to, and dice that fall as they are told to. */
export class FakeTiming implements WatchTiming {
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

  /** Timers that have neither elapsed nor been called off. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets this much time pass, timer by timer, and what waits for each of them happen. */
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

/** Whatever is ready to happen has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
