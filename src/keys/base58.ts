import { memoizeLast } from '../async/memoize-last.js';
import { IntentError, type IntentErrorCode } from '../errors.js';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const codes = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0));
const zeroCode = codes[0] as number;
/** The digit of each character code. */
const digitOf: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const digit = codes.indexOf(code);
  return digit < 0 ? undefined : digit;
});

// A number is an array of limbs, the least significant first. All products stay far below 2^53.
const digitsOfLimb = 5;
const limbBase = 58 ** digitsOfLimb;
const halfWord = 65_536;

/** Base58 of n bytes has at most this many times n characters. */
const expansion = 1.38;

/**
 * Encodes keys, ids, accounts and signatures as Base58 with the Bitcoin alphabet (interface sections 2.2 and 2.7).
 *
 * Libraries concatenate letter by letter, so the engine keeps a chain of strings as long as the id.
 */
export function formatBase58(bytes: Uint8Array): string {
  const text = Buffer.alloc(Math.ceil(bytes.length * expansion) + digitsOfLimb);
  let start = text.length;
  for (const limb of limbsOf(bytes)) {
    for (let rest = limb, digit = 0; digit < digitsOfLimb; digit += 1) {
      const next = Math.floor(rest / 58);
      start -= 1;
      text[start] = codes[rest - next * 58] as number;
      rest = next;
    }
  }
  while (text[start] === zeroCode) start += 1;
  const zeros = zerosBefore(bytes);
  text.fill(zeroCode, start - zeros, start);
  return text.toString('latin1', start - zeros);
}

/**
 * Decodes the Base58 form of exactly `byteLength` bytes. The same bytes have only one form.
 * @throws {IntentError} `code`, for text of another length or alphabet
 */
export function parseBase58(text: string, byteLength: number, code: IntentErrorCode): Uint8Array {
  // Longer text is rejected before the quadratic decoding.
  const isShort = typeof text === 'string' && text.length <= Math.ceil(byteLength * expansion);
  const bytes = isShort ? decode(text, byteLength) : undefined;
  if (!bytes) throw new IntentError(code, `Expected the Base58 form of ${byteLength} bytes.`);
  return bytes;
}

/** Decodes an account: 32 bytes, Base58 (interface sections 2.8 and 8). @throws {IntentError} `invalid_account` */
export const parseAccount = memoizeLast((text) => parseBase58(text, 32, 'invalid_account'));

/** Decodes a verifier public key: 32 bytes, Base58 (interface section 2.7). @throws {IntentError} `invalid_key` */
export const parseVerifierKey = memoizeLast((text) => parseBase58(text, 32, 'invalid_key'));

/** Decodes an intent id: 32 bytes, Base58 (interface sections 2.2 and 8). @throws {IntentError} `invalid_id` */
export function parseIntentId(text: string): Uint8Array {
  return parseBase58(text, 32, 'invalid_id');
}

/** The bytes as a number in limbs of 58^5. */
function limbsOf(bytes: Uint8Array): number[] {
  const limbs: number[] = [];
  // Two bytes at once; of an odd number, the first alone.
  for (let at = bytes.length % 2; at <= bytes.length; at += 2) {
    let carry = (bytes[at - 2] ?? 0) * 256 + (bytes[at - 1] ?? 0);
    for (let limb = 0; limb < limbs.length; limb += 1) {
      const sum = (limbs[limb] as number) * halfWord + carry;
      carry = Math.floor(sum / limbBase);
      limbs[limb] = sum - carry * limbBase;
    }
    if (carry > 0) limbs.push(carry);
  }
  return limbs;
}

/** Undefined if the text is not the Base58 form of this number of bytes. */
function decode(text: string, byteLength: number): Uint8Array | undefined {
  const bytes = new Uint8Array(byteLength);
  // Four digits at once: 256 * 58^4 fits into 32 bits.
  for (let at = 0; at < text.length; at += 4) {
    let [factor, carry] = [1, 0];
    for (let digit = at; digit < Math.min(at + 4, text.length); digit += 1) {
      factor *= 58;
      carry = carry * 58 + (digitOf[text.charCodeAt(digit)] ?? Number.NaN);
    }
    if (Number.isNaN(carry)) return undefined;
    for (let place = byteLength - 1; place >= 0; place -= 1) {
      const sum: number = (bytes[place] as number) * factor + carry;
      bytes[place] = sum;
      carry = sum >>> 8;
    }
    if (carry > 0) return undefined;
  }
  let zeros = 0;
  while (text.charCodeAt(zeros) === zeroCode) zeros += 1;
  return zeros === zerosBefore(bytes) ? bytes : undefined;
}

function zerosBefore(bytes: Uint8Array): number {
  let zeros = 0;
  while (bytes[zeros] === 0) zeros += 1;
  return zeros;
}
