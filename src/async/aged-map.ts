/** So many changes more than it has entries a map may see before its walk is dropped. */
const changesOfWalk = 1_000;

/**
 * A map that knows its oldest entry at once.
 *
 * A `Map` keeps the order as well, but whoever asks it for its first entry walks past all those that were deleted in front
 * of it: where 100,000 entries come and go, for 30 us each time. Here one walk goes on where it stopped.
 *
 * An iterator keeps every table that the map has outgrown since its last step, with all entries that were ever in them. So
 * a walk begins when it is needed, and is dropped after as many changes as would be worth that memory.
 */
export class AgedMap<Value> {
  readonly #entries = new Map<string, { readonly key: string; readonly value: Value }>();
  #walk: MapIterator<{ readonly key: string; readonly value: Value }> | undefined;
  /** What the walk has come to; undefined before its first step. */
  #reached: { readonly key: string; readonly value: Value } | undefined;

  #changesSinceWalk = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** As the newest entry, whatever was kept under this key before. */
  set(key: string, value: Value): void {
    this.delete(key);
    this.#entries.set(key, { key, value });
    this.#changed();
  }

  /** Whether there was something to delete. */
  delete(key: string): boolean {
    const isDeleted = this.#entries.delete(key);
    if (isDeleted) this.#changed();
    return isDeleted;
  }

  /** The oldest entry; undefined where there is none. */
  oldest(): { readonly key: string; readonly value: Value } | undefined {
    while (!this.#reached || this.#entries.get(this.#reached.key) !== this.#reached) {
      this.#walk ??= this.#entries.values();
      const { done, value } = this.#walk.next();
      this.#reached = value;
      if (!done) continue;
      if (this.#entries.size === 0) return undefined;
      // A walk that has come to the end has ended, whatever comes later.
      this.#walk = undefined;
    }
    return this.#reached;
  }

  #changed(): void {
    this.#changesSinceWalk += 1;
    if (this.#changesSinceWalk <= this.#entries.size + changesOfWalk) return;
    this.#changesSinceWalk = 0;
    this.#walk = undefined;
    this.#reached = undefined;
  }
}
