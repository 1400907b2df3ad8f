import {
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto';
import { portableKeyPair, portableVerify } from './portable-ed25519.js';

/** An Ed25519 key pair (RFC 8032). The private half stays inside: it cannot be printed, copied or serialized. */
export interface KeyPair {
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** Gives the signature of 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** The key pair of a seed of 32 bytes: native where the runtime has Ed25519, else the portable implementation. */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  return importSeed ? new NativeKeyPair(importSeed(seed)) : portableKeyPair(seed);
}

/** Whether `signature` (64 bytes) over `bytes` is by `publicKey` (32 bytes). Input of another length is simply false. */
export function verifySignature(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (!importSeed) return portableVerify(publicKey, bytes, signature);
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

type SeedImport = (seed: Uint8Array) => KeyObject;

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

// A JWK is the cheapest way in, about five times cheaper than PKCS#8. It also asks for the public key, which is what we
// are after, but does not compare it with the seed. That is not documented, so it is tried out once, below.
const unknownPublicKey = base64url(new Uint8Array(32));
const importSeedAsJwk: SeedImport = (seed) =>
  createPrivateKey(jwk({ kty: 'OKP', crv: 'Ed25519', d: base64url(seed), x: unknownPublicKey }));

// RFC 8410: a PrivateKeyInfo for Ed25519 is this prefix and the seed.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const importSeedAsPkcs8: SeedImport = (seed) =>
  createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });

function importPublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey(jwk({ kty: 'OKP', crv: 'Ed25519', x: base64url(publicKey) }));
}

function exportPublicKey(privateKey: KeyObject): Uint8Array {
  // Of the private key itself: to make a public one of it first takes twice as long.
  const { x } = privateKey.export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x as string, 'base64url'));
}

function jwk(key: JsonWebKeyInput['key']): JsonWebKeyInput {
  return { key, format: 'jwk' };
}

// RFC 8032 section 7.1, test 1.
const knownSeed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const knownPublicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

function givesTheKnownKey(candidate: SeedImport): boolean {
  try {
    return Buffer.from(exportPublicKey(candidate(knownSeed))).toString('hex') === knownPublicKey;
  } catch {
    return false;
  }
}

const importSeed = [importSeedAsJwk, importSeedAsPkcs8].find(givesTheKnownKey);
