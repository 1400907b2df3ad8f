import type { v1 } from '../wire/codec.js';

type Timestamp = NonNullable<v1.CodeScanned.$Properties['timestamp']>;

/** A moment, ms since 1970, as messages carry it. */
export function toTimestamp(atMs: number): Timestamp {
  const seconds = Math.floor(atMs / 1000);
  return { seconds, nanos: Math.floor((atMs - seconds * 1000) * 1e6) };
}
