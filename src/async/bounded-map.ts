export interface BoundedMapOptions {
  /** The maximum number of entries. When the map is full, a new entry evicts the oldest. */
  readonly capacity: number;
  /** The lifetime of an entry, in milliseconds. Default: unlimited. */
  readonly ttlMs?: number | undefined;
  /** A monotonic clock, in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

interface Entry<Value> {
  readonly key: string;
  readonly value: Value;
  readonly expiresAt: number;
  older: Entry<Value> | undefined;
  newer: Entry<Value> | undefined;
}

/**
 * A map with a maximum number of entries and, optionally, a maximum age. Its entries are private: logs, `inspect` and JSON do
 * not show them.
 *
 * The entries also form a linked list from the oldest to the newest. Setting a key makes its entry the newest. All entries
 * have the same lifetime, so the oldest expires first. A `Map` keeps this order too, but its iterator visits deleted entries:
 * 30 µs for 100,000 of them.
 */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #capacity: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  #oldest: Entry<Value> | undefined;
  #newest: Entry<Value> | undefined;

  constructor({ capacity, ttlMs = Number.POSITIVE_INFINITY, now = () => performance.now() }: BoundedMapOptions) {
    this.#capacity = capacity;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** The number of entries, including those that expired since the last call. For tests. */
  get size(): number {
    return this.#entries.size;
  }

  /** Undefined if there is no entry or it has expired. */
  get(key: string): Value | undefined {
    this.#dropExpired();
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: Value): void {
    const expiresAt = this.#dropExpired() + this.#ttlMs;
    const previous = this.#entries.get(key);
    if (previous) this.#remove(previous);
    const entry: Entry<Value> = { key, value, expiresAt, older: this.#newest, newer: undefined };
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#capacity && this.#oldest) this.#remove(this.#oldest);
  }

  delete(key: string): boolean {
    this.#dropExpired();
    const entry = this.#entries.get(key);
    if (entry) this.#remove(entry);
    return entry !== undefined;
  }

  /** Removes expired entries. @returns the current time; 0 without a time to live */
  #dropExpired(): number {
    // Without a time to live no entry expires.
    if (this.#ttlMs === Number.POSITIVE_INFINITY) return 0;
    const now = this.#now();
    while (this.#oldest && this.#oldest.expiresAt <= now) this.#remove(this.#oldest);
    return now;
  }

  #remove(entry: Entry<Value>): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    // A reference to its neighbors would delay their garbage collection.
    entry.older = undefined;
    entry.newer = undefined;
    this.#entries.delete(entry.key);
  }
}
