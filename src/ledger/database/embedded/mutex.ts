import { unreachable } from '../database-fault.js';

/** Lets callers in one at a time, in the order they came; who has waited too long is sent away without a turn. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** @throws {IntentError} `ledger_unavailable` when the turn has not come within `waitMs` */
  async take<Value>(waitMs: number, work: () => Promise<Value>): Promise<Value> {
    if (this.#isTaken) await this.#wait(waitMs);
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      // Handed on without being free in between, so that nobody comes before those who wait.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isTaken = false;
    }
  }

  #wait(waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(unreachable(`Another transaction has had the database for ${waitMs} ms`));
      }, waitMs);
      this.#waiting.push(enter);
    });
  }
}
