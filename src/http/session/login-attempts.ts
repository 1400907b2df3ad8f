import { BoundedMap } from '../../async/bounded-map.js';
import type { DatabaseTransaction } from '../../ledger/database/database.js';
import type { NewIntent } from '../../ledger/ledger.js';
import { sameBrowser } from '../request/browser-cookie.js';

/**
 * The logins that were begun and can be completed, each once and by the browser that began it. A ledger is one, for all
 * processes; {@link LoginAttempts} is one in memory, for this process alone.
 */
export interface Logins {
  /** Notes an intent that the sequencer has accepted. */
  record(intent: NewIntent): Promise<void>;
  /** Whether this browser began this login less than `ttlMs` ago, and it was not completed. Another's looks like none. */
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  /**
   * Completes a login, for one caller alone, however many do so at the same time. When `work` rejects, it was not
   * completed. False where there was nothing to complete.
   * @throws what `work` throws
   */
  completeLogin(
    login: { readonly id: string; readonly browser: Uint8Array; readonly ttlMs: number; readonly userId: string },
    work: (tx: DatabaseTransaction | undefined) => Promise<void>,
  ): Promise<boolean>;
  /** Undoes `completeLogin`. */
  reopenLogin(id: string): Promise<void>;
}

interface Attempt {
  /** The hash of the browser's cookie. */
  readonly browser: Uint8Array;
  isCompleted: boolean;
}

/** The logins that were begun in this process. */
export class LoginAttempts implements Logins {
  readonly #attempts: BoundedMap<Attempt>;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(ttlMs: number, now: () => number, capacity = 100_000) {
    this.#attempts = new BoundedMap({ ttlMs, capacity, now });
  }

  async record({ id, terms, browser }: NewIntent): Promise<void> {
    if (!terms || terms.login) this.#attempts.set(id, { browser, isCompleted: false });
  }

  async canCompleteLogin(id: string, browser: Uint8Array): Promise<boolean> {
    return this.#begunBy(id, browser) !== undefined;
  }

  async completeLogin(
    { id, browser }: { readonly id: string; readonly browser: Uint8Array },
    work: (tx: undefined) => Promise<void>,
  ): Promise<boolean> {
    const attempt = this.#begunBy(id, browser);
    if (!attempt) return false;
    attempt.isCompleted = true;
    try {
      await work(undefined);
    } catch (error) {
      attempt.isCompleted = false;
      throw error;
    }
    return true;
  }

  async reopenLogin(id: string): Promise<void> {
    const attempt = this.#attempts.get(id);
    if (attempt) attempt.isCompleted = false;
  }

  #begunBy(id: string, browser: Uint8Array): Attempt | undefined {
    const attempt = this.#attempts.get(id);
    return attempt && !attempt.isCompleted && sameBrowser(attempt.browser, browser) ? attempt : undefined;
  }
}
