/**
 * A map that knows its oldest entry at once.
 *
 * A `Map` keeps the order as well, but whoever asks it for its first entry walks past all those that were deleted in front
 * of it: where 100,000 entries come and go, for 30 us each time. Here one walk goes on where it stopped.
 */
export class AgedMap<Value> {
  readonly #entries = new Map<string, { readonly key: string; readonly value: Value }>();
  #walk = this.#entries.values();
  /** What the walk has come to; undefined before its first step. */
  #reached: { readonly key: string; readonly value: Value } | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** As the newest entry, whatever was kept under this key before. */
  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, { key, value });
  }

  /** Whether there was something to delete. */
  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  /** The oldest entry; undefined where there is none. */
  oldest(): { readonly key: string; readonly value: Value } | undefined {
    while (!this.#reached || this.#entries.get(this.#reached.key) !== this.#reached) {
      const { done, value } = this.#walk.next();
      this.#reached = value;
      if (!done) continue;
      if (this.#entries.size === 0) return undefined;
      // A walk that has come to the end has ended, whatever comes later.
      this.#walk = this.#entries.values();
    }
    return this.#reached;
  }
}
