import { AgedMap } from './aged-map.js';

export interface ExpiringMapOptions {
  /** How long an entry lasts, in milliseconds. */
  readonly ttlMs: number;
  /** How many are kept; the oldest makes room. */
  readonly capacity: number;
  /** The time, in milliseconds. */
  readonly now: () => number;
}

/** A bounded map that forgets by itself. Its entries are private: no log, no `inspect` and no JSON shows them. */
export class ExpiringMap<Value> {
  // The oldest ends first, because all last equally long.
  readonly #entries = new AgedMap<{ readonly value: Value; readonly endsAt: number }>();
  readonly #options: ExpiringMapOptions;

  constructor(options: ExpiringMapOptions) {
    this.#options = options;
  }

  /** How many entries are kept, also of those that have ended since the last call. */
  get size(): number {
    return this.#entries.size;
  }

  /** Keeps a value from now on, whatever was kept under this key before. */
  set(key: string, value: Value): void {
    const { ttlMs, capacity, now } = this.#options;
    this.#dropEnded();
    this.#entries.set(key, { value, endsAt: now() + ttlMs });
    if (this.#entries.size > capacity) this.#dropOldest();
  }

  /** Undefined where it was never here, or is here no more. */
  get(key: string): Value | undefined {
    this.#dropEnded();
    return this.#entries.get(key)?.value;
  }

  /** Whether there was something to delete. */
  delete(key: string): boolean {
    this.#dropEnded();
    return this.#entries.delete(key);
  }

  #dropEnded(): void {
    const now = this.#options.now();
    while ((this.#entries.oldest()?.value.endsAt ?? Number.POSITIVE_INFINITY) <= now) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#entries.oldest();
    if (oldest) this.#entries.delete(oldest.key);
  }
}
