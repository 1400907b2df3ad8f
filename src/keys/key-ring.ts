import { hkdfSync } from 'node:crypto';
import { IntentError } from '../errors.js';
import { parseBase58 } from './base58.js';
import { parseSecrets } from './parse-secret.js';
import { type Signer, signerFromSeed } from './verifier-key.js';

/** The verifier keys of a site. The first signs, all are published (interface sections 2.7 and 5.3). */
export interface VerifierKeyRing {
  readonly signer: Signer;
  /** Base58, without duplicates. The signing key is the first. */
  readonly publicKeys: readonly string[];
  /** Derives a key of 32 bytes from each known secret, in order (HKDF-SHA-256, RFC 5869). */
  deriveKeys(purpose: string): Uint8Array[];
}

/** Creates a key ring from the secrets in `text`. A given signer is the first key. @throws {IntentError} `invalid_key` */
export function createKeyRing(text: string, signer?: Signer): VerifierKeyRing {
  if (signer) parseBase58(signer.publicKey, 32, 'invalid_key');
  const seeds = parseSecrets(text);
  const signers = [...(signer ? [signer] : []), ...seeds.map(signerFromSeed)];
  const [first] = signers;
  if (!first) throw new IntentError('invalid_key', 'There is no verifier key. Set at least one secret, or a signer.');
  return Object.freeze({
    signer: first,
    publicKeys: Object.freeze([...new Set(signers.map(({ publicKey }) => publicKey))]),
    deriveKeys: (purpose: string) => seeds.map((seed) => new Uint8Array(hkdfSync('sha256', seed, '', purpose, 32))),
  });
}
