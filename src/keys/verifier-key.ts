import { randomBytes } from 'node:crypto';
import { isUint8Array } from 'node:util/types';
import { withTimeout } from '../async/timeout.js';
import { IntentError } from '../errors.js';
import { formatBase58 } from './base58.js';
import { type KeyPair, keyPairFromSeed, verifySignature } from './ed25519.js';
import { parseSecrets } from './parse-secret.js';
import { parseVerifyingKey } from './verifying-key.js';

/** Signs with a verifier key (interface section 5.3). Implement it for a key in a KMS or an HSM. */
export interface Signer {
  /** Base58 of 32 bytes. */
  readonly publicKey: string;
  /** @returns the Ed25519 signature of exactly these bytes, 64 bytes */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * Creates a signer from a secret: Base58 or hex of 32 bytes (a seed) or 64 bytes (a seed and its public key), or a JSON array of
 * 64 numbers. @throws {IntentError} `invalid_key`
 */
export function createSigner(secret: string): Signer {
  const [seed, ...more] = parseSecrets(secret);
  if (!seed || more.length > 0) throw new IntentError('invalid_key', 'Expected exactly one secret key.');
  return signerFromSeed(seed);
}

/** Rejects a public key or a key pair in place of a signer. @param name of the parameter @throws {IntentError} `invalid_key` */
export function requireSigner(name: string, value: unknown): asserts value is Signer {
  if (typeof (value as Partial<Signer> | null | undefined)?.sign === 'function') return;
  const message =
    `${name} must be a signer, not a public key or a key pair: the verifier key signs the request. Create it from the secret ` +
    'of that key with createSigner(secret).';
  throw new IntentError('invalid_key', message);
}

export function signerFromSeed(seed: Uint8Array): Signer {
  return new LocalSigner(keyPairFromSeed(seed));
}

/** Generates a key pair: the secret (a seed) and its public key, both Base58. */
export function generateKeyPair(): { secret: string; publicKey: string } {
  const seed = randomBytes(32);
  return { secret: formatBase58(seed), publicKey: formatBase58(keyPairFromSeed(seed).publicKey) };
}

class LocalSigner implements Signer {
  readonly publicKey: string;
  readonly #keyPair: KeyPair;

  constructor(keyPair: KeyPair) {
    this.publicKey = formatBase58(keyPair.publicKey);
    this.#keyPair = keyPair;
  }

  sign(bytes: Uint8Array): Uint8Array {
    if (!isUint8Array(bytes)) throw new TypeError('sign: expected a Uint8Array.');
    return this.#keyPair.sign(bytes);
  }
}

const signerTimeoutMs = 5_000;

/**
 * Signs, and verifies the signature of a custom signer, which can hang, or use another key or encoding. The error of the payment
 * service would not show the cause.
 * @throws {IntentError} `signer_failed`
 */
export async function signChecked(signer: Signer, bytes: Uint8Array): Promise<Uint8Array> {
  if (signer instanceof LocalSigner) return signer.sign(bytes);
  const signature = await signInTime(signer, bytes);
  const publicKey = parseVerifyingKey(signer.publicKey);
  if (signature instanceof Uint8Array && verifySignature(publicKey, bytes, signature)) return signature;
  const message =
    `The signer did not return a valid Ed25519 signature by ${signer.publicKey}. Check that this is its public key, and that it ` +
    'signs the unchanged bytes.';
  throw new IntentError('signer_failed', message);
}

async function signInTime(signer: Signer, bytes: Uint8Array): Promise<unknown> {
  const error = (): Error =>
    new Error(`The signer did not answer within ${signerTimeoutMs} ms. Check that its KMS is reachable.`);
  try {
    return await withTimeout(signerTimeoutMs, () => signer.sign(bytes), { error, ref: true });
  } catch (cause) {
    throw new IntentError('signer_failed', 'The signer threw or timed out. See `cause`.', {
      cause,
    });
  }
}
