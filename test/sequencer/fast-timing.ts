import type { WatchTiming } from '../../src/sequencer/watch-timing.js';

/** Real time, so many times as fast: for what has real sockets beside it, which wait for no clock of a test. */
export class FastTiming implements WatchTiming {
  readonly #speed: number;
  #pending = 0;

  constructor(speed: number) {
    this.#speed = speed;
  }

  /** Timers that have neither elapsed nor been called off. */
  get pending(): number {
    return this.#pending;
  }

  readonly random = Math.random;
  readonly now = (): number => performance.now() * this.#speed;
  readonly startTimer = (elapsed: () => void, delayMs: number): (() => void) => {
    this.#pending += 1;
    let isPending = true;
    const settle = (): void => {
      if (isPending) this.#pending -= 1;
      isPending = false;
    };
    const timer = setTimeout(() => {
      settle();
      elapsed();
    }, delayMs / this.#speed);
    return () => {
      settle();
      clearTimeout(timer);
    };
  };
}
