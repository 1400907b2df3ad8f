import { ExpiringMap } from './expiring-map.js';

/** What learns something in several ways learns it several times within moments. */
const whileMs = 60_000;

/** Passes an id on unless that was done a short while ago; of how many ids it knows that is bounded. */
export function onceInAWhile(pass: (id: string) => void, now: () => number, capacity = 10_000): (id: string) => void {
  const passed = new ExpiringMap<true>({ ttlMs: whileMs, capacity, now });
  return (id) => {
    if (passed.get(id)) return;
    passed.set(id, true);
    pass(id);
  };
}
