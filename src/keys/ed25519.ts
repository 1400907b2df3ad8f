import {
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type JsonWebKeyInput,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { IntentError } from '../errors.js';
import { isSmallOrder } from './verifying-key.js';

/** An Ed25519 key pair (RFC 8032). The private key cannot be printed, copied or serialized. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

/** The functions of `sodium-native` that `useSodium` needs. They write to their first arguments. */
export interface Sodium {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
}

let usedSodium: Sodium | undefined;

/**
 * Makes this thread create key pairs and sign with `sodium-native`, which takes less CPU than `node:crypto`. Existing signers do
 * not change. Call it before `intentRouter()` and `createSigner()`.
 * @throws {IntentError} `invalid_configuration` if a signature differs from that of `node:crypto`
 */
export function useSodium(sodium: Sodium): void {
  let cause: unknown;
  try {
    // A copy, because the module could be patched after the check.
    const { crypto_sign_seed_keypair, crypto_sign_detached } = sodium;
    const copy = { crypto_sign_seed_keypair, crypto_sign_detached };
    const bytes = randomBytes(400);
    const seed = bytes.subarray(7, 39);
    const [found, expected] = [new SodiumKeyPair(copy, seed), new NativeKeyPair(importSeed(seed))].map((pair) =>
      Buffer.concat([pair.publicKey, ...[0, 1, 32, 300].map((length) => pair.sign(bytes.subarray(9, 9 + length)))]),
    );
    if (expected && found?.equals(expected)) {
      usedSodium = copy;
      return;
    }
  } catch (error) {
    cause = error;
  }
  const message =
    'useSodium: the argument does not create the same keys and signatures as node:crypto. Pass the default export of sodium-native.';
  throw new IntentError('invalid_configuration', message, cause === undefined ? {} : { cause });
}

export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  return usedSodium ? new SodiumKeyPair(usedSodium, seed) : new NativeKeyPair(importSeed(seed));
}

/** Verifies a signature (64 bytes) by a public key (32 bytes). False for input of another length, and for a key of small order. */
export function verifySignature(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64 || isSmallOrder(publicKey)) return false;
  return cryptoVerify(null, bytes, importPublicKey(publicKey), signature);
}

class NativeKeyPair implements KeyPair {
  readonly publicKey: Uint8Array;
  readonly #privateKey: KeyObject;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.publicKey = exportPublicKey(privateKey);
  }

  sign(bytes: Uint8Array): Uint8Array {
    return cryptoSign(null, bytes, this.#privateKey);
  }
}

class SodiumKeyPair implements KeyPair {
  readonly publicKey: Uint8Array = new Uint8Array(32);
  readonly #sodium: Sodium;
  readonly #secretKey = new Uint8Array(64);

  constructor(sodium: Sodium, seed: Uint8Array) {
    this.#sodium = sodium;
    sodium.crypto_sign_seed_keypair(this.publicKey, this.#secretKey, seed);
  }

  sign(bytes: Uint8Array): Uint8Array {
    // A Buffer, as from node:crypto.
    const signature = Buffer.alloc(64);
    this.#sodium.crypto_sign_detached(signature, bytes, this.#secretKey);
    return signature;
  }
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

type SeedImporter = (seed: Uint8Array) => KeyObject;

const placeholderPublicKey = base64url(new Uint8Array(32));
/** The header of an Ed25519 seed in PKCS#8 (RFC 8410, section 7). */
const pkcs8Header = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The forms in which Node imports a seed, the cheapest first. */
const seedImporters: readonly SeedImporter[] = [
  // A fifth of PKCS#8. A JWK requires a public key, which Node 20 to 24 does not compare with the seed, and Node 26 does.
  (seed) => createPrivateKey(jwk({ kty: 'OKP', crv: 'Ed25519', d: base64url(seed), x: placeholderPublicKey })),
  // Two thirds of PKCS#8. Since Node 24; the types are those of Node 20.
  (seed) => createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' } as never),
  (seed) => createPrivateKey({ key: Buffer.concat([pkcs8Header, seed]), format: 'der', type: 'pkcs8' }),
];

/** The first test vector of RFC 8032, section 7.1. */
const knownSeed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const knownPublicKey = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');

function isCorrect(importer: SeedImporter): boolean {
  try {
    return knownPublicKey.equals(exportPublicKey(importer(knownSeed)));
  } catch {
    return false;
  }
}

let seedImporter: SeedImporter | undefined;

function importSeed(seed: Uint8Array): KeyObject {
  seedImporter ??= seedImporters.find(isCorrect);
  if (!seedImporter) throw new IntentError('invalid_key', 'This runtime has no Ed25519. Use Node.js 20.19 or newer.');
  // The decoder of PKCS#8 ignores bytes after the key.
  if (seed.length !== 32) throw new TypeError(`An Ed25519 seed has 32 bytes, not ${seed.length}.`);
  return seedImporter(seed);
}

function importPublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey(jwk({ kty: 'OKP', crv: 'Ed25519', x: base64url(publicKey) }));
}

function exportPublicKey(privateKey: KeyObject): Uint8Array {
  // Deriving a public key object first takes twice as long.
  const { x } = privateKey.export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x as string, 'base64url'));
}

function jwk(key: JsonWebKeyInput['key']): JsonWebKeyInput {
  return { key, format: 'jwk' };
}
