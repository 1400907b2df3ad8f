import { IntentError } from '../../errors.js';
import type { v1 } from '../../wire/codec.js';

/** A clock that runs with another one and can be advanced. */
export interface Clock {
  /** The time, ms since 1970. Needs no `this`, so it can be passed on: `intentRouter({ now: clock.now })`. */
  now(this: void): number;
  /** Advances the clock, in milliseconds. No timer fires because of it. @throws {IntentError} `invalid_request` for less than 0 */
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

/** A time, ms since 1970, in the form of the messages. */
export function toTimestamp(atMs: number): Timestamp {
  const seconds = Math.floor(atMs / 1000);
  return { seconds, nanos: Math.floor((atMs - seconds * 1000) * 1e6) };
}
