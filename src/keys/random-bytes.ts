import { randomFillSync } from 'node:crypto';

/** Filled at once, because a call costs more CPU time than the bytes that it generates. */
const reserve = new Uint8Array(4_096);
let used = reserve.length;

/** Cryptographically secure random bytes. @param length at most 4,096 */
export function randomBytes(length: number): Uint8Array {
  if (used + length > reserve.length) {
    randomFillSync(reserve);
    used = 0;
  }
  const bytes = reserve.slice(used, used + length);
  // The bytes become a secret of the caller, so no copy may remain.
  reserve.fill(0, used, used + length);
  used += length;
  return bytes;
}
