import { createHmac } from 'node:crypto';
import { IntentError } from '../errors.js';
import { parseSecrets } from './parse-secret.js';
import { type Signer, signerFromSeed } from './verifier-key.js';
import { parseVerifyingKey } from './verifying-key.js';

/** The verifier keys of a site. The first signs, all are published (interface sections 2.7 and 5.3). */
export interface VerifierKeyRing {
  readonly signer: Signer;
  /** All keys without duplicates. The signing key is the first. */
  readonly signers: readonly Signer[];
  /** Of {@link signers}, Base58. */
  readonly publicKeys: readonly string[];
  /** Derives a key from each known secret, in order. */
  deriveKeys(purpose: string): Uint8Array[];
}

/** Creates a key ring from the secrets in `text`. A given signer is the first key. @throws {IntentError} `invalid_key` */
export function createKeyRing(text: string, signer?: Signer): VerifierKeyRing {
  if (signer) parseVerifyingKey(signer.publicKey);
  const seeds = parseSecrets(text);
  const given = [...(signer ? [signer] : []), ...seeds.map(signerFromSeed)];
  const publicKeys = given.map(({ publicKey }) => publicKey);
  const signers = given.filter(({ publicKey }, index) => publicKeys.indexOf(publicKey) === index);
  const [first] = signers;
  if (!first) throw new IntentError('invalid_key', 'There is no verifier key. Set at least one secret, or a signer.');
  return Object.freeze({
    signer: first,
    signers: Object.freeze(signers),
    publicKeys: Object.freeze([...new Set(publicKeys)]),
    deriveKeys: (purpose: string) => seeds.map((seed) => deriveKey(seed, purpose)),
  });
}

/**
 * Derives a key of 32 bytes for one purpose (HKDF-SHA-256 without a salt, RFC 5869).
 *
 * It does not use `hkdfSync`, which costs twice as much, and creates an asynchronous resource that ends only with a garbage
 * collection: `jest --detectOpenHandles` could report it in the tests of a site.
 */
export function deriveKey(secret: Uint8Array | string, purpose: string): Uint8Array {
  const pseudorandomKey = createHmac('sha256', '').update(secret).digest();
  // One block has 32 bytes. The last byte is its number.
  return new Uint8Array(createHmac('sha256', pseudorandomKey).update(purpose).update(Uint8Array.of(1)).digest());
}
