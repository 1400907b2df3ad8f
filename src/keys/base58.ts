import bs58 from 'bs58';
import { memoizeLast } from '../async/memoize-last.js';
import { IntentError, type IntentErrorCode } from '../errors.js';
import { base58Text } from './base58-text.js';

/** Text form of keys, ids, accounts and signatures: Base58 with the Bitcoin alphabet (interface sections 2.2 and 2.7). */
export function formatBase58(bytes: Uint8Array): string {
  return base58Text(bytes);
}

/**
 * Reads the canonical Base58 form of exactly `byteLength` bytes.
 *
 * Base58 of n bytes never takes more than 1.38 n characters; longer text is refused before the quadratic decoding.
 * @throws {IntentError} `code`, for any other text: wrong length, wrong alphabet, or a second spelling of the same bytes
 */
export function parseBase58(text: string, byteLength: number, code: IntentErrorCode): Uint8Array {
  const maxLength = Math.ceil(byteLength * 1.38);
  const bytes = typeof text === 'string' && text.length <= maxLength ? bs58.decodeUnsafe(text) : undefined;
  if (bytes?.length !== byteLength || base58Text(bytes) !== text) {
    throw new IntentError(code, `Expected the Base58 form of ${byteLength} bytes.`);
  }
  return bytes;
}

/** Reads an account: 32 bytes, Base58 (interface sections 2.8 and 8). @throws {IntentError} `invalid_account` */
export const parseAccount = memoizeLast((text) => parseBase58(text, 32, 'invalid_account'));

/** Reads a verifier public key: 32 bytes, Base58 (interface section 2.7). @throws {IntentError} `invalid_key` */
export const parseVerifierKey = memoizeLast((text) => parseBase58(text, 32, 'invalid_key'));

/** Reads an intent id: 32 bytes, Base58 (interface sections 2.2 and 8). @throws {IntentError} `invalid_id` */
export function parseIntentId(text: string): Uint8Array {
  return parseBase58(text, 32, 'invalid_id');
}
