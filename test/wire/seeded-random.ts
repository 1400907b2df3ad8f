/** A pseudo-random source (mulberry32): a seed has the same values on every machine. */
export interface SeededRandom {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  bytes(length: number): Uint8Array;
  pick<Item>(items: readonly Item[]): Item;
}

export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
    pick: (items) => items[below(items.length)] as (typeof items)[number],
  };
}
