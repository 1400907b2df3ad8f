import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { type DatabaseOutage, outage, sqlStateOf } from '../database-fault.js';

/** All in milliseconds. */
export interface PulseTiming {
  /** Where somebody has waited for so long, and nobody was answered meanwhile, it is asked whether the database is there. */
  readonly quietMs: number;
  /** From one question to a database that does not answer to the next. */
  readonly againMs: number;
}

export interface PulseOptions extends PulseTiming {
  /** Asks the database over a connection of its own, within bounded time; rejects where it has not answered. */
  readonly probe: () => Promise<void>;
  /** Called when the database has gone without a word: what is under way will not end by itself. */
  readonly onSilence: () => void;
}

/**
 * Tells a database that is busy from one that is gone without a word, as when a cable is cut: then nobody waits for the end
 * of his time-out, and who comes later does not wait at all. Such a database is asked until it answers.
 */
export class PostgresPulse {
  readonly #options: PulseOptions;
  #waiting = 0;
  #waitingSinceMs = 0;
  #heardAtMs = 0;
  #silence: { readonly sinceMs: number; readonly cause: unknown } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #isClosed = false;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Waits for an answer of the database. @throws what `ask` throws */
  async follow<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting === 0) this.#waitingSinceMs = performance.now();
    this.#waiting += 1;
    this.#timer ??= setInterval(() => this.#look(), this.#options.quietMs / 4).unref();
    try {
      const answer = await ask();
      this.#heardAtMs = performance.now();
      return answer;
    } catch (error) {
      if (sqlStateOf(error)) this.#heardAtMs = performance.now();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Whether the database is gone without a word. */
  get isSilent(): boolean {
    return this.#silence !== undefined;
  }

  /** @throws {DatabaseOutage} while it is silent */
  requireAnswer(): void {
    if (this.#silence) throw this.#outage(this.#silence);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#waiting === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const quietSinceMs = Math.max(this.#waitingSinceMs, this.#heardAtMs);
    if (!this.#isAsking && performance.now() - quietSinceMs >= this.#options.quietMs) {
      this.#isAsking = true;
      void this.#ask().finally(() => {
        this.#isAsking = false;
      });
    }
  }

  async #ask(): Promise<void> {
    const { probe, onSilence, againMs } = this.#options;
    const lastHeardMs = this.#heardAtMs;
    while (!this.#isClosed) {
      const failure = await probe().then(() => undefined, failureOf);
      // Where this process itself was busy for long, answers have come that nobody has read yet.
      await turn();
      if (!failure || (!this.#silence && this.#heardAtMs > lastHeardMs)) break;
      if (!this.#silence) {
        this.#silence = { sinceMs: Math.max(lastHeardMs, this.#waitingSinceMs), cause: failure.error };
        onSilence();
      }
      await wait(againMs, undefined, { ref: false });
    }
    this.#silence = undefined;
    this.#heardAtMs = performance.now();
  }

  #outage({ sinceMs, cause }: { readonly sinceMs: number; readonly cause: unknown }): DatabaseOutage {
    const seconds = Math.round((performance.now() - sinceMs) / 1_000);
    return outage(`The database has not answered for ${seconds} s`, cause);
  }
}

/** A database that says no is there. */
function failureOf(error: unknown): { readonly error: unknown } | undefined {
  return sqlStateOf(error) ? undefined : { error };
}
