import { sameBrowser } from './browser-cookie.js';

/** The logins that were begun here and not yet completed: which intent belongs to which browser, and until when. */
export class LoginAttempts {
  // In the order of their end, because all last equally long.
  readonly #attempts = new Map<string, { browser: Uint8Array; endsAt: number }>();
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #capacity: number;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(ttlMs: number, now: () => number, capacity = 100_000) {
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#capacity = capacity;
  }

  /** @param browser hash of the browser's cookie, 32 bytes */
  begin(intentId: string, browser: Uint8Array): void {
    this.#dropOldest();
    this.#attempts.set(intentId, { browser, endsAt: this.#now() + this.#ttlMs });
  }

  /** Whether this browser began the login, and it can still be completed. Another's looks like one that never was. */
  has(intentId: string, browser: Uint8Array | undefined): boolean {
    const attempt = this.#attempts.get(intentId);
    return !!attempt && !!browser && this.#now() < attempt.endsAt && sameBrowser(attempt.browser, browser);
  }

  /** Ends the attempt. True for one caller alone, however many complete the same login at the same time. */
  take(intentId: string, browser: Uint8Array | undefined): boolean {
    return this.has(intentId, browser) && this.#attempts.delete(intentId);
  }

  #dropOldest(): void {
    for (const [intentId, { endsAt }] of this.#attempts) {
      if (this.#now() < endsAt && this.#attempts.size < this.#capacity) return;
      this.#attempts.delete(intentId);
    }
  }
}
