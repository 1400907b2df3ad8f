import nacl from 'tweetnacl';
import type { KeyPair } from './ed25519.js';

/** Ed25519 in plain JavaScript, about a hundred times dearer: for a runtime without it, and as the second opinion in tests. */
export function portableKeyPair(seed: Uint8Array): KeyPair {
  return new PortableKeyPair(seed);
}

/** Like `verifySignature`, in plain JavaScript. */
export function portableVerify(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  return nacl.sign.detached.verify(bytes, signature, publicKey);
}

class PortableKeyPair implements KeyPair {
  readonly publicKey: Uint8Array;
  readonly #secretKey: Uint8Array;

  constructor(seed: Uint8Array) {
    const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(seed);
    this.publicKey = publicKey;
    this.#secretKey = secretKey;
  }

  sign(bytes: Uint8Array): Uint8Array {
    return nacl.sign.detached(bytes, this.#secretKey);
  }
}
