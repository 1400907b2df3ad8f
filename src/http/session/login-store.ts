import { BoundedMap } from '../../async/bounded-map.js';
import type { DatabaseTransaction } from '../../ledger/database/database.js';
import type { Completion, LoginToComplete, NewIntent } from '../../ledger/ledger.js';
import { sameBrowser } from '../request/browser-cookie.js';

/**
 * Started logins. The browser that started a login can complete it once, within its time to live:
 *
 *   started --completeLogin--> completed --reopenLogin--> started
 *
 * The ledger implements this for all processes, {@link MemoryLoginStore} in memory for one process.
 */
export interface LoginStore {
  /** Records an intent that the sequencer has accepted. Returns undefined if no wait is needed, as in memory. */
  recordIntent(intent: NewIntent): Promise<void> | undefined;
  /** Whether this browser started this login less than `ttlMs` ago, and it is not completed. */
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  /**
   * Completes a login; of concurrent calls one succeeds. If `work` rejects, the login is not completed. False if
   * `canCompleteLogin` is false.
   * @throws what `work` throws
   */
  completeLogin(login: LoginToComplete, work: (tx: DatabaseTransaction | undefined) => Promise<void>): Promise<boolean>;
  /** A login that this browser has completed less than `ttlMs` ago. In memory without the request that completed it. */
  findCompletion(
    login: Pick<LoginToComplete, 'id' | 'browser' | 'key'>,
    ttlMs: number,
  ): Promise<Completion | undefined>;
  /** Undoes `completeLogin`, unless a repeated request has started a session. */
  reopenLogin(id: string, key: string): Promise<void>;
}

interface Attempt {
  /** Base64: a text takes a third of the memory of a `Buffer`, whose bytes are a separate allocation. */
  readonly browser: string;
  /** Undefined until the login is completed. */
  userId: string | undefined;
  completedAt: number;
}

export class MemoryLoginStore implements LoginStore {
  readonly #attempts: BoundedMap<Attempt>;
  readonly #now: () => number;

  /** @param capacity the maximum number of logins; a new one evicts the oldest */
  constructor(ttlMs: number, now: () => number, capacity = 100_000) {
    this.#attempts = new BoundedMap({ ttlMs, capacity, now });
    this.#now = now;
  }

  recordIntent({ id, terms, browser }: NewIntent): undefined {
    if (terms && !terms.login) return;
    this.#attempts.set(id, { browser: Buffer.from(browser).toString('base64'), userId: undefined, completedAt: 0 });
  }

  async canCompleteLogin(id: string, browser: Uint8Array): Promise<boolean> {
    const attempt = this.#startedBy(id, browser);
    return attempt !== undefined && attempt.userId === undefined;
  }

  async completeLogin(
    { id, browser, userId }: { readonly id: string; readonly browser: Uint8Array; readonly userId: string },
    work: (tx: undefined) => Promise<void>,
  ): Promise<boolean> {
    const attempt = this.#startedBy(id, browser);
    if (!attempt || attempt.userId !== undefined) return false;
    attempt.userId = userId;
    attempt.completedAt = this.#now();
    try {
      await work(undefined);
    } catch (error) {
      attempt.userId = undefined;
      throw error;
    }
    return true;
  }

  async findCompletion(
    { id, browser }: Pick<LoginToComplete, 'id' | 'browser'>,
    ttlMs: number,
  ): Promise<Completion | undefined> {
    const attempt = this.#startedBy(id, browser);
    const { userId, completedAt = 0 } = attempt ?? {};
    const isRecent = completedAt > this.#now() - ttlMs;
    return userId !== undefined && isRecent ? { userId, isSameRequest: false } : undefined;
  }

  async reopenLogin(id: string): Promise<void> {
    const attempt = this.#attempts.get(id);
    if (attempt) attempt.userId = undefined;
  }

  #startedBy(id: string, browser: Uint8Array): Attempt | undefined {
    const attempt = this.#attempts.get(id);
    return attempt && sameBrowser(Buffer.from(attempt.browser, 'base64'), browser) ? attempt : undefined;
  }
}
