/** What was seen lately: a bounded set that forgets by itself. */
export class SeenCalls {
  // In the order of their end, because all last equally long.
  readonly #endsAt = new Map<string, number>();
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #capacity: number;

  /** @param capacity how many are remembered; the oldest makes room */
  constructor({ ttlMs, now, capacity }: { ttlMs: number; now: () => number; capacity: number }) {
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Remembers a call. True when it is new. */
  add(digest: string): boolean {
    this.#dropOldest();
    if (this.#endsAt.has(digest)) return false;
    const [oldest] = this.#endsAt.keys();
    if (oldest !== undefined && this.#endsAt.size >= this.#capacity) this.#endsAt.delete(oldest);
    this.#endsAt.set(digest, this.#now() + this.#ttlMs);
    return true;
  }

  #dropOldest(): void {
    for (const [digest, endsAt] of this.#endsAt) {
      if (this.#now() < endsAt) return;
      this.#endsAt.delete(digest);
    }
  }
}
