import { decodeBase58 } from './base58.js';

/** What a client secret says of its intent, as far as it matters before it is shown (protocol section 2). */
export interface ClientSecret {
  readonly kind: 'payment' | 'login';
  /** The 20 bytes themselves. They are the intent's private key. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

const payloadLength = 20;

/**
 * Reads a client secret. Only the canonical form is taken: one spelling, 20 bytes, a kind that is known.
 * @throws {TypeError} for anything else; the message never holds the secret
 */
export function parseClientSecret(clientSecret: unknown): ClientSecret {
  const payload = decodeBase58(clientSecret, payloadLength);
  if (payload?.[0] === 2) return { kind: 'payment', payload };
  // A login has neither currency nor amount.
  if (payload?.[0] === 3 && payload.slice(1, 9).every((byte) => byte === 0)) return { kind: 'login', payload };
  throw new TypeError('This is no client secret');
}
