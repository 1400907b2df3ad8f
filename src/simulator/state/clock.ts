import { IntentError } from '../../errors.js';
import type { v1 } from '../../wire/codec.js';

/** A clock that runs like another one and can be advanced. */
export interface Clock {
  /** The time, ms since 1970. Can be passed as a function: `intentRouter({ now: clock.now })`. */
  now(this: void): number;
  /** Advances the time by `ms` milliseconds. Fires no timers. @throws {IntentError} `invalid_request` unless `ms` is 0 or more */
  advance(this: void, ms: number): void;
}

/** @param time the underlying clock, ms since 1970 */
export function createClock(time: () => number = Date.now): Clock {
  let aheadMs = 0;
  return Object.freeze({
    now: () => time() + aheadMs,
    advance: (ms: number) => {
      if (!Number.isFinite(ms) || ms < 0) {
        throw new IntentError('invalid_request', `A clock cannot advance by ${ms} ms. Pass 0 or more milliseconds.`);
      }
      aheadMs += ms;
    },
  });
}

type Timestamp = NonNullable<v1.CodeScanned.$Properties['timestamp']>;

/** @param atMs ms since 1970 */
export function toTimestamp(atMs: number): Timestamp {
  const seconds = Math.floor(atMs / 1000);
  return { seconds, nanos: Math.floor((atMs - seconds * 1000) * 1e6) };
}
