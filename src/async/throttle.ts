import { BoundedMap } from './bounded-map.js';

export interface ThrottleOptions {
  /** How long a key is not passed on again, in milliseconds. */
  readonly everyMs: number;
  /** How many keys are remembered; the oldest makes room. */
  readonly capacity: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Passes each key on at most once per interval. */
export function throttleByKey(
  pass: (key: string) => void,
  { everyMs, capacity, now }: ThrottleOptions,
): (key: string) => void {
  const passed = new BoundedMap<true>({ ttlMs: everyMs, capacity, now });
  return (key) => {
    if (passed.get(key)) return;
    passed.set(key, true);
    pass(key);
  };
}
