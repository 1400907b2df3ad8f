export interface BoundedMapOptions {
  /** How many entries are kept. The oldest makes room. */
  readonly capacity: number;
  /** How long an entry lasts, in milliseconds. Default: for ever. */
  readonly ttlMs?: number | undefined;
  /** The clock, in milliseconds. Default: `performance.now`. */
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
 * A map with a bound on its entries and, if wanted, on their age. Its entries are private: no log, no `inspect` and no JSON
 * shows them.
 *
 * The entries are also a list from the oldest to the newest; setting a key makes its entry the newest. All entries last
 * equally long, so the oldest expires first. A `Map` keeps this order as well, but its iterator walks past every deleted
 * entry (30 us where 100,000 entries come and go), or keeps all entries that were ever in the map.
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

  /** How many entries are kept, with those that expired since the last call. */
  get size(): number {
    return this.#entries.size;
  }

  /** Undefined if the key was never set, or its entry is gone. */
  get(key: string): Value | undefined {
    this.#dropExpired();
    return this.#entries.get(key)?.value;
  }

  /** Keeps a value as the newest entry, instead of the one that had this key. */
  set(key: string, value: Value): void {
    this.delete(key);
    const expiresAt = this.#ttlMs === Number.POSITIVE_INFINITY ? this.#ttlMs : this.#now() + this.#ttlMs;
    const entry: Entry<Value> = { key, value, expiresAt, older: this.#newest, newer: undefined };
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#capacity && this.#oldest) this.#remove(this.#oldest);
  }

  /** Whether there was an entry to delete. */
  delete(key: string): boolean {
    this.#dropExpired();
    const entry = this.#entries.get(key);
    if (entry) this.#remove(entry);
    return entry !== undefined;
  }

  #dropExpired(): void {
    if (this.#ttlMs === Number.POSITIVE_INFINITY) return;
    const now = this.#now();
    while (this.#oldest && this.#oldest.expiresAt <= now) this.#remove(this.#oldest);
  }

  #remove(entry: Entry<Value>): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    // A removed entry that pointed to its neighbours would keep them from an early collection.
    entry.older = undefined;
    entry.newer = undefined;
    this.#entries.delete(entry.key);
  }
}
