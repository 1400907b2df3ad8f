import { decodeBase58 } from './base58.js';
import { requireThat } from './require-that.js';

const payloadLength = 20;

/**
 * Reads a client secret (protocol section 2). Only the canonical form is taken: one spelling, 20 bytes, the kind that is asked for.
 * @returns the 20 bytes themselves. They are the intent's private key
 * @throws {TypeError} for anything else; the message never holds the secret
 */
export function parseClientSecret(clientSecret: unknown, kind: 'payment' | 'login'): Uint8Array<ArrayBuffer> {
  const payload = decodeBase58(clientSecret, payloadLength);
  // A login has neither currency nor amount.
  const isSo = kind === 'payment' ? payload?.[0] === 2 : `${payload?.slice(0, 9)}` === '3,0,0,0,0,0,0,0,0';
  requireThat(!!payload && isSo, 'client secret', kind);
  return payload;
}
