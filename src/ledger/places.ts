/** Lets so many in at a time; the others wait in the order they came, each for as long as its signal lets it. */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** @throws the signal's reason, when it was aborted before there was a place; `work` has not begun then */
  async take<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  /** Handed on without being free in between, so that nobody comes before those who wait. */
  #handOn(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free += 1;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
      };
      const enter = (): void => {
        leaveLine();
        resolve();
      };
      const giveUp = (): void => {
        leaveLine();
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
