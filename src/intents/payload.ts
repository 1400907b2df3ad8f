import { hash } from 'node:crypto';
import { IntentError } from '../errors.js';
import { formatBase58, parseBase58 } from '../keys/base58.js';
import { type KeyPair, keyPairFromSeed } from '../keys/ed25519.js';
import { currencyAt, currencyIndex } from './currency.js';
import type { Money } from './money.js';

const payloadLength = 20;
/** Random bytes at the end of the payload, new for every intent. Guessing them reveals the private key of the intent. */
export const nonceLength = 11;

export type Payload =
  | { readonly kind: 'payment'; readonly money: Money; readonly nonce: Uint8Array }
  | { readonly kind: 'login'; readonly nonce: Uint8Array };

const kindByte = { payment: 2, login: 3 } as const;

/** Encodes the 20 bytes: kind, currency index, hundredths (7 bytes, little-endian), nonce. */
export function encodePayload(payload: Payload): Uint8Array {
  const bytes = Buffer.alloc(payloadLength);
  bytes[0] = kindByte[payload.kind];
  if (payload.kind === 'payment') {
    bytes[1] = currencyIndex(payload.money.currency);
    // Writes eight bytes. The last is zero, and the first byte of the nonce overwrites it.
    bytes.writeBigUInt64LE(payload.money.hundredths, 2);
  }
  bytes.set(payload.nonce, payloadLength - nonceLength);
  return bytes;
}

/** Decodes the 20 bytes. @throws {IntentError} `invalid_client_secret`, `unknown_currency` */
export function decodePayload(bytes: Uint8Array): Payload {
  if (bytes.length !== payloadLength)
    throw invalid(`The client secret has ${bytes.length} bytes instead of ${payloadLength}.`);
  const nonce = bytes.slice(payloadLength - nonceLength);
  const hundredths = readHundredths(bytes);
  if (bytes[0] === kindByte.payment) {
    return { kind: 'payment', money: { currency: currencyAt(bytes[1] as number), hundredths }, nonce };
  }
  if (bytes[0] !== kindByte.login) throw invalid('The client secret belongs to neither a payment nor a login.');
  if (bytes[1] !== 0 || hundredths !== 0n) throw invalid('The client secret of a login has a currency or an amount.');
  return { kind: 'login', nonce };
}

/** The client secret: the payload in Base58. The private key of the intent is derived from it. */
export function formatClientSecret(payload: Uint8Array): string {
  return formatBase58(payload);
}

/** Decodes a client secret to its payload. @throws {IntentError} `invalid_client_secret` */
export function parseClientSecret(clientSecret: string): Uint8Array {
  return parseBase58(clientSecret, payloadLength, 'invalid_client_secret');
}

/** The rendezvous key pair of a payload. Its seed is the SHA-256 of the 20 bytes. */
export function rendezvousKeyPair(payload: Uint8Array): KeyPair {
  return keyPairFromSeed(hash('sha256', payload, 'buffer'));
}

/** The id of an intent: its rendezvous public key (interface section 2.2). */
export function intentIdOf(rendezvous: Pick<KeyPair, 'publicKey'>): string {
  return formatBase58(rendezvous.publicKey);
}

function readHundredths(bytes: Uint8Array): bigint {
  const eight = new Uint8Array(8);
  eight.set(bytes.subarray(2, 9));
  return new DataView(eight.buffer).getBigUint64(0, true);
}

const invalid = (problem: string): IntentError =>
  new IntentError('invalid_client_secret', `${problem} Pass the client secret unchanged.`);
