import { type AbortSignalLike, listenForAbort } from './abort.js';

export interface SemaphoreWait {
  readonly timeoutMs: number;
  readonly timeoutError: () => unknown;
  readonly signals?: readonly (AbortSignalLike | undefined)[] | undefined;
}

/**
 * A semaphore with a fixed number of permits and a first-in, first-out queue. With one permit it is a mutex.
 *
 * A caller is waiting, then holding a permit, then done. A waiting caller can also leave the queue by timeout or abort. A
 * released permit passes directly to the first waiting caller, so a new caller cannot overtake the queue.
 */
export class Semaphore {
  readonly #permits: number;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(permits: number) {
    this.#permits = permits;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isExhausted(): boolean {
    return this.#held >= this.#permits;
  }

  /**
   * Acquires a permit. Returns undefined if one is free, else a promise. The holder must `release` it.
   * @throws the error of the timeout @throws the reason of a signal that aborts during the wait
   */
  acquire(wait: SemaphoreWait): Promise<void> | undefined {
    return this.tryAcquire() ? undefined : this.#waitForPermit(wait);
  }

  /** Acquires a permit if one is free. */
  tryAcquire(): boolean {
    if (this.isExhausted) return false;
    this.#held += 1;
    return true;
  }

  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#held -= 1;
  }

  async run<Value>(wait: SemaphoreWait, work: () => Promise<Value>): Promise<Value> {
    await this.acquire(wait);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  #waitForPermit({ timeoutMs, timeoutError, signals = [] }: SemaphoreWait): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.#waiting.delete(enter);
        clearTimeout(timer);
        unlisten();
      };
      const giveUp = (reason: unknown): void => {
        leaveQueue();
        reject(reason);
      };
      const enter = (): void => {
        leaveQueue();
        resolve();
      };
      const timer = setTimeout(() => giveUp(timeoutError()), timeoutMs);
      const unlisten = listenForAbort(signals, ({ reason }) => giveUp(reason));
      this.#waiting.add(enter);
    });
  }
}
