import { ledgerUnavailable } from '../database-fault.js';

/** Runs one piece of work at a time, in order of arrival. A caller that waits too long leaves the line. */
export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  /** @throws {IntentError} `ledger_unavailable` when the mutex is not free within `waitMs` */
  async run<Value>(waitMs: number, work: () => Promise<Value>): Promise<Value> {
    if (this.#isHeld) await this.#wait(waitMs);
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      // It passes to the next in line without being free in between, so that no newcomer overtakes the line.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isHeld = false;
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
        reject(ledgerUnavailable(`Another transaction has had the database for ${waitMs} ms`));
      }, waitMs);
      this.#waiting.push(enter);
    });
  }
}
