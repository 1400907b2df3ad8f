import { hash } from 'node:crypto';
import { formatBase58 } from '../keys/base58.js';
import { type KeyPair, keyPairFromSeed } from '../keys/ed25519.js';

/** The key pair of the rendezvous: its seed is the SHA-256 of the payload (20 bytes). */
export function rendezvousKeyPair(payload: Uint8Array): KeyPair {
  return keyPairFromSeed(hash('sha256', payload, 'buffer'));
}

/** An intent's id is the public key of its rendezvous (interface section 2.2). */
export function intentIdOf(rendezvous: Pick<KeyPair, 'publicKey'>): string {
  return formatBase58(rendezvous.publicKey);
}
