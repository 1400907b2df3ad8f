import { flagsOf, type IntentStatus, statusOf } from '../calls.js';

/** The lifetime while an intent is not submitted, in milliseconds: too short to notice, long enough to share a call. */
export const unsubmittedTtlMs = 250;
/** The lifetime once it is submitted. Limited, because a submission may be reversed. */
const submittedTtlMs = 60_000;

/** A bit of an entry, next to its flags: the status was set again. */
const renewed = 8;

/**
 * The last status of each intent, for its lifetime. A new entry of a full map evicts one by the CLOCK algorithm: the oldest that was
 * not renewed since the last search passed it.
 *
 * An entry is a byte and a time in typed arrays. An object for each entry would burden the garbage collector and take twice the memory.
 */
export class RecentStatuses {
  readonly #now: () => number;
  /** The position of each intent in the arrays. */
  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #flags: Uint8Array;
  readonly #answeredAt: Float64Array;
  /** Of deleted entries. */
  readonly #freeSlots: number[] = [];
  /** Where the next search for an entry to evict begins. */
  #nextSlot = 0;

  constructor(capacity: number, now: () => number) {
    this.#now = now;
    this.#flags = new Uint8Array(capacity);
    this.#answeredAt = new Float64Array(capacity);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Undefined if there is no status or its lifetime has passed. */
  get(id: string): IntentStatus | undefined {
    const slot = this.#slots.get(id);
    if (slot === undefined) return undefined;
    const status = statusOf((this.#flags[slot] as number) & ~renewed);
    const ageMs = this.#now() - (this.#answeredAt[slot] as number);
    const isFresh = ageMs < (status.intentSubmitted ? submittedTtlMs : unsubmittedTtlMs);
    return isFresh ? status : undefined;
  }

  set(id: string, status: IntentStatus): void {
    const known = this.#slots.get(id);
    const slot = known ?? this.#add(id);
    this.#flags[slot] = flagsOf(status) | (known === undefined ? 0 : renewed);
    this.#answeredAt[slot] = this.#now();
  }

  delete(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#freeSlots.push(slot);
  }

  #add(id: string): number {
    const used = this.#slots.size;
    const slot = this.#freeSlots.pop() ?? (used < this.#flags.length ? used : this.#evict());
    this.#ids[slot] = id;
    this.#slots.set(id, slot);
    return slot;
  }

  /** The search clears the bit `renewed` of each entry that it passes, so it ends after one pass. @returns the slot */
  #evict(): number {
    const flags = this.#flags;
    for (;;) {
      const slot = this.#nextSlot;
      this.#nextSlot = (slot + 1) % flags.length;
      if (((flags[slot] as number) & renewed) === 0) {
        this.#slots.delete(this.#ids[slot] as string);
        return slot;
      }
      flags[slot] = (flags[slot] as number) & ~renewed;
    }
  }
}
