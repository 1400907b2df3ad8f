import { IntentError } from '../errors.js';
import { parseBase58 } from './base58.js';
import { memoizeLast } from './memoize-last.js';

/**
 * The points of small order of Ed25519, in hex without the sign bit. Those with y = 0 and y = 1 have two forms each, of which
 * RFC 8032 (section 5.1.3) allows only the first. OpenSSL decodes both. The list is that of libsodium.
 */
const smallOrderPoints = new Set([
  // y = 0, order 4.
  '0000000000000000000000000000000000000000000000000000000000000000',
  // y = 1, the neutral point.
  '0100000000000000000000000000000000000000000000000000000000000000',
  // y = -1, order 2.
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  // Order 8.
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  // y = 0 and y = 1 plus the field prime.
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Whether anyone can forge signatures by this key: it has no private key, and verifies signatures that nobody made with one. */
export function isSmallOrder(publicKey: Uint8Array): boolean {
  const point = Buffer.from(publicKey);
  point[31] = (point[31] ?? 0) & 0x7f;
  return smallOrderPoints.has(point.toString('hex'));
}

/**
 * Requires a key that can verify signatures. Ids that are only looked up, and accounts, may be any 32 bytes.
 * @throws {IntentError} `invalid_key`
 */
export function requireVerifyingKey(publicKey: Uint8Array): Uint8Array {
  if (!isSmallOrder(publicKey)) return publicKey;
  throw new IntentError(
    'invalid_key',
    'The key is of small order: anyone can forge signatures by it. Use the public key of a generated key pair.',
  );
}

/** Decodes a public key that verifies signatures: 32 bytes, Base58 (interface section 2.7). @throws {IntentError} `invalid_key` */
export const parseVerifyingKey = memoizeLast((text) => requireVerifyingKey(parseBase58(text, 32, 'invalid_key')));
