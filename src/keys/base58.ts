import bs58 from 'bs58';
import { IntentError, type IntentErrorCode } from '../errors.js';
import { memoizeLast } from './memoize-last.js';

const codes = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
const zeroCode = codes[0] as number;

/** A limb of five digits, times 2^16, stays far below 2^53. */
const digitsOfLimb = 5;
const limbBase = 58 ** digitsOfLimb;

/**
 * Encodes keys, ids, accounts and signatures as Base58 with the Bitcoin alphabet (interface sections 2.2 and 2.7).
 *
 * The bs58 library is used for decoding only. Its encoder takes up to three times as long and concatenates letter by letter, so V8
 * retains a chain of strings for each id. Each intent encodes two texts, 2 µs in total.
 */
export function formatBase58(bytes: Uint8Array): string {
  const limbs = limbsOf(bytes);
  const text = Buffer.allocUnsafe(bytes.length + limbs.length * digitsOfLimb);
  let start = text.length;
  for (const limb of limbs) {
    for (let rest = limb, digit = 0; digit < digitsOfLimb; digit += 1) {
      const next = Math.floor(rest / 58);
      start -= 1;
      text[start] = codes[rest - next * 58] as number;
      rest = next;
    }
  }
  while (text[start] === zeroCode) start += 1;
  for (let zeros = 0; bytes[zeros] === 0; zeros += 1) {
    start -= 1;
    text[start] = zeroCode;
  }
  const result = text.toString('latin1', start);
  // The text may be a secret, and other buffers of the process will use this memory.
  text.fill(0);
  return result;
}

const nameByCode: Partial<Record<IntentErrorCode, string>> = {
  invalid_account: 'account',
  invalid_client_secret: 'client secret',
  invalid_id: 'intent id',
  invalid_key: 'key',
};

/**
 * Decodes the canonical Base58 form of exactly `byteLength` bytes.
 *
 * Base58 of n bytes has at most 1.38 n characters. Longer text is rejected before the quadratic decoding.
 * @throws {IntentError} `code`, for text of another length or alphabet, or another encoding of the same bytes
 */
export function parseBase58(text: string, byteLength: number, code: IntentErrorCode): Uint8Array {
  const maxLength = Math.ceil(byteLength * 1.38);
  const bytes = typeof text === 'string' && text.length <= maxLength ? bs58.decodeUnsafe(text) : undefined;
  if (bytes?.length !== byteLength || formatBase58(bytes) !== text) {
    const name = nameByCode[code] ?? 'value';
    const form = code === 'invalid_account' ? 'Base58 or Base64' : 'Base58';
    throw new IntentError(
      code,
      `The ${name} is not the ${form} form of ${byteLength} bytes. Copy the whole ${name} again.`,
    );
  }
  return bytes;
}

/** Decodes an account: 32 bytes, Base58 or Base64 (interface sections 2.2, 2.8 and 8). @throws {IntentError} `invalid_account` */
export const parseAccount = memoizeLast((text) => readBase64Account(text) ?? parseBase58(text, 32, 'invalid_account'));

/** The Base58 form of an account, in which accounts are stored and shown. @throws {IntentError} `invalid_account` */
export const normalizeAccount = memoizeLast((text) => formatBase58(parseAccount(text)));

/** Reads the canonical Base64 form, whose padding cannot occur in Base58. Decoding alone would accept other characters and bits. */
function readBase64Account(text: string): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length !== 44 || !text.endsWith('=')) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === text ? bytes : undefined;
}

/** Decodes an intent id: 32 bytes, Base58 (interface sections 2.2 and 8). @throws {IntentError} `invalid_id` */
export function parseIntentId(text: string): Uint8Array {
  return parseBase58(text, 32, 'invalid_id');
}

/** The bytes as a number in limbs, the least significant first. */
function limbsOf(bytes: Uint8Array): number[] {
  const limbs: number[] = [];
  // Two bytes at a time. An odd first byte is a pair with zero.
  for (let index = bytes.length % 2 === 0 ? 0 : -1; index < bytes.length; index += 2) {
    let carry = (bytes[index] ?? 0) * 256 + (bytes[index + 1] as number);
    for (let at = 0; at < limbs.length; at += 1) {
      const sum = (limbs[at] as number) * 65_536 + carry;
      carry = Math.floor(sum / limbBase);
      limbs[at] = sum - carry * limbBase;
    }
    if (carry > 0) limbs.push(carry);
  }
  return limbs;
}
