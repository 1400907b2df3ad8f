import { randomFillSync } from 'node:crypto';

/** Asked for in one go: what the system takes to begin is dearer than the bytes. */
const reserve = new Uint8Array(4_096);
let used = reserve.length;

/** Bytes that nobody can guess, from the system's random source; each is given out once. @param length at most 4,096 */
export function randomBytes(length: number): Uint8Array {
  if (used + length > reserve.length) {
    randomFillSync(reserve);
    used = 0;
  }
  const bytes = reserve.slice(used, used + length);
  // What has been given out is somebody's secret, and is kept by nobody else.
  reserve.fill(0, used, used + length);
  used += length;
  return bytes;
}
