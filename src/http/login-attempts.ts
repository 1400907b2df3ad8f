import { sameBrowser } from './browser-cookie.js';
import { ExpiringMap } from './expiring-map.js';

/** The logins that were begun here and not yet completed: which intent belongs to which browser, and until when. */
export class LoginAttempts {
  /** The hash of the browser's cookie, by intent. */
  readonly #browsers: ExpiringMap<Uint8Array>;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(ttlMs: number, now: () => number, capacity = 100_000) {
    this.#browsers = new ExpiringMap({ ttlMs, capacity, now });
  }

  /** @param browser hash of the browser's cookie, 32 bytes */
  begin(intentId: string, browser: Uint8Array): void {
    this.#browsers.set(intentId, browser);
  }

  /** Whether this browser began the login, and it can still be completed. Another's looks like one that never was. */
  has(intentId: string, browser: Uint8Array | undefined): boolean {
    const begunBy = this.#browsers.get(intentId);
    return !!begunBy && !!browser && sameBrowser(begunBy, browser);
  }

  /** Ends the attempt. True for one caller alone, however many complete the same login at the same time. */
  take(intentId: string, browser: Uint8Array | undefined): boolean {
    return this.has(intentId, browser) && this.#browsers.delete(intentId);
  }
}
