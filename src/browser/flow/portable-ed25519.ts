import nacl from 'tweetnacl/nacl.js';

/** The Ed25519 public key of a seed, both 32 bytes, for browsers whose WebCrypto has no Ed25519. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return nacl.sign.keyPair.fromSeed(seed).publicKey;
}
