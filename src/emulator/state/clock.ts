import { IntentError } from '../../errors.js';

/** A clock that goes as another does, and can be put forward. */
export interface Clock {
  /** The time, ms since 1970. Needs no `this`, so that it can be handed on: `intentRouter({ now: clock.now })`. */
  now(this: void): number;
  /** Puts the clock forward, in milliseconds. No timer goes off by it. @throws {IntentError} `invalid_request` for less than 0 */
  advance(this: void, ms: number): void;
}

/** @param time what it goes by, ms since 1970 */
export function createClock(time: () => number = Date.now): Clock {
  let aheadMs = 0;
  return Object.freeze({
    now: () => time() + aheadMs,
    advance: (ms: number) => {
      if (!Number.isFinite(ms) || ms < 0) {
        throw new IntentError('invalid_request', `A clock goes forward by milliseconds, and not by ${ms}.`);
      }
      aheadMs += ms;
    },
  });
}
