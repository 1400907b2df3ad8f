import {
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto';

/** An Ed25519 key pair (RFC 8032). The private key cannot be printed, copied or serialized. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  return new NativeKeyPair(importSeed(seed));
}

/** Verifies a signature (64 bytes) by a public key (32 bytes). False for input of another length. */
export function verifySignature(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
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

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

// Importing a JWK is five times cheaper than PKCS#8. A JWK requires a public key, but Node does not compare it with the seed:
// the tests verify this with the vectors of RFC 8032 on every supported Node.
const unknownPublicKey = base64url(new Uint8Array(32));

function importSeed(seed: Uint8Array): KeyObject {
  return createPrivateKey(jwk({ kty: 'OKP', crv: 'Ed25519', d: base64url(seed), x: unknownPublicKey }));
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
