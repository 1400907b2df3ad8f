import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { type DatabaseOutage, databaseOutage, sqlStateOf } from '../database-fault.js';

/** All in milliseconds. */
export interface LivenessTiming {
  /** The database is probed when a call waits and no call was answered for this long. */
  readonly quietMs: number;
  readonly retryMs: number;
}

export interface LivenessOptions extends LivenessTiming {
  /** Queries the database over a new connection, with a timeout. Rejects if it does not answer. */
  readonly probe: () => Promise<void>;
  /** Called when the database stops responding. Must end the pending calls. */
  readonly onSilence: () => void;
}

/**
 * Distinguishes a slow database from one that stopped responding without closing its connections, as after a cut cable.
 * While the database is silent, calls fail immediately instead of after their timeout.
 *
 *     answering -- a call waits, no call was answered for quietMs, and a probe fails --> silent: `onSilence` is called
 *     silent    -- a probe succeeds; they are repeated every retryMs ------------------> answering
 *
 * An error with an SQLSTATE counts as an answer.
 */
export class LivenessMonitor {
  readonly #options: LivenessOptions;
  #waiting = 0;
  #waitingSinceMs = 0;
  #answeredAtMs = 0;
  #silence: { readonly sinceMs: number; readonly cause: unknown } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;
  #isClosed = false;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** Runs a call and notes whether it was answered. @throws what `call` throws */
  async track<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting === 0) this.#waitingSinceMs = performance.now();
    this.#waiting += 1;
    this.#timer ??= setInterval(() => this.#check(), this.#options.quietMs / 4).unref();
    try {
      const answer = await call();
      this.#answeredAtMs = performance.now();
      return answer;
    } catch (error) {
      if (sqlStateOf(error)) this.#answeredAtMs = performance.now();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  get isSilent(): boolean {
    return this.#silence !== undefined;
  }

  throwIfSilent(): void {
    if (this.#silence) throw this.#outage(this.#silence);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #check(): void {
    if (this.#waiting === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const quietSinceMs = Math.max(this.#waitingSinceMs, this.#answeredAtMs);
    if (this.#isProbing || performance.now() - quietSinceMs < this.#options.quietMs) return;
    this.#isProbing = true;
    void this.#probeUntilAnswer().finally(() => {
      this.#isProbing = false;
    });
  }

  async #probeUntilAnswer(): Promise<void> {
    const { probe, onSilence, retryMs } = this.#options;
    const lastAnswerMs = this.#answeredAtMs;
    while (!this.#isClosed) {
      const failure = await probe().then(() => undefined, silenceOf);
      // If this process was blocked, it may not have read all answers yet.
      await nextTurn();
      if (!failure || (!this.#silence && this.#answeredAtMs > lastAnswerMs)) break;
      if (!this.#silence) {
        this.#silence = { sinceMs: Math.max(lastAnswerMs, this.#waitingSinceMs), cause: failure.error };
        onSilence();
      }
      await wait(retryMs, undefined, { ref: false });
    }
    this.#silence = undefined;
    this.#answeredAtMs = performance.now();
  }

  #outage({ sinceMs, cause }: { readonly sinceMs: number; readonly cause: unknown }): DatabaseOutage {
    const seconds = Math.round((performance.now() - sinceMs) / 1_000);
    return databaseOutage(`The database has not answered for ${seconds} s`, cause);
  }
}

/** Undefined for an error of the database itself, which is an answer. */
function silenceOf(error: unknown): { readonly error: unknown } | undefined {
  return sqlStateOf(error) ? undefined : { error };
}
