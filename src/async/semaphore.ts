import { type Abortable, listenForAbort } from './abort.js';

/** How long a caller waits for a permit. */
export interface SemaphoreWait {
  /** In milliseconds. */
  readonly timeoutMs: number;
  /** Makes the error of a wait that took too long. */
  readonly timeoutError: () => unknown;
  /** Each ends the wait early, with its reason. */
  readonly signals?: readonly (Abortable | undefined)[] | undefined;
}

/**
 * Gives out a fixed number of permits; callers beyond them wait in line. With one permit it is a mutex.
 *
 * A caller is waiting, then holds a permit, then has released it; or it leaves the line, by timeout or abort. A released
 * permit passes to the first in line without being free in between, so that no newcomer overtakes the line.
 */
export class Semaphore {
  readonly #permits: number;
  /** In the order of arrival. */
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(permits: number) {
    this.#permits = permits;
  }

  /** How many permits are held. */
  get held(): number {
    return this.#held;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether a caller would have to wait. */
  get isTaken(): boolean {
    return this.#held >= this.#permits;
  }

  /**
   * Takes a permit: at once, which returns undefined, or in turn. The holder must `release` it.
   * @throws the error of the timeout @throws a signal's reason
   */
  acquire(wait: SemaphoreWait): Promise<void> | undefined {
    if (this.isTaken) return this.#turn(wait);
    this.#held += 1;
    return undefined;
  }

  /** Passes the permit to the next in line. */
  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#held -= 1;
  }

  /** Does the work while it holds a permit. @throws as `acquire` @throws what the work throws */
  async run<Value>(wait: SemaphoreWait, work: () => Promise<Value>): Promise<Value> {
    await this.acquire(wait);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  #turn({ timeoutMs, timeoutError, signals = [] }: SemaphoreWait): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        this.#waiting.delete(enter);
        clearTimeout(timer);
        unlisten();
      };
      const giveUp = (reason: unknown): void => {
        leaveLine();
        reject(reason);
      };
      const enter = (): void => {
        leaveLine();
        resolve();
      };
      const timer = setTimeout(() => giveUp(timeoutError()), timeoutMs);
      const unlisten = listenForAbort(signals, ({ reason }) => giveUp(reason));
      this.#waiting.add(enter);
    });
  }
}
