import { createRequire } from 'node:module';
import type { KeyPair } from './ed25519.js';

const require = createRequire(import.meta.url);
/** Loaded where it is needed, which is hardly anywhere. */
const loadNacl = (): typeof import('tweetnacl') => require('tweetnacl');

/** Ed25519 in plain JavaScript, about a hundred times dearer: for a runtime without it, and as the second opinion in tests. */
export function portableKeyPair(seed: Uint8Array): KeyPair {
  return new PortableKeyPair(seed);
}

/** Like `verifySignature`, in plain JavaScript. */
export function portableVerify(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  return loadNacl().sign.detached.verify(bytes, signature, publicKey);
}

class PortableKeyPair implements KeyPair {
  readonly publicKey: Uint8Array;
  readonly #nacl = loadNacl();
  readonly #secretKey: Uint8Array;

  constructor(seed: Uint8Array) {
    const { publicKey, secretKey } = this.#nacl.sign.keyPair.fromSeed(seed);
    this.publicKey = publicKey;
    this.#secretKey = secretKey;
  }

  sign(bytes: Uint8Array): Uint8Array {
    return this.#nacl.sign.detached(bytes, this.#secretKey);
  }
}
