import { currencyCodes } from '../intents/currency-codes.js';
import { decodeBase58, readNumber } from './base58.js';

/** What a client secret says of its intent (protocol section 2). */
export interface Scannable {
  readonly kind: 'payment' | 'login';
  /** Lowercase three-letter code; payments only. */
  readonly currency?: string | undefined;
  /** Decimal string with two decimals, such as `12.50`; payments only. */
  readonly amount?: string | undefined;
  /** The 20 bytes themselves. They are the intent's private key. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

const payloadLength = 20;

/**
 * Reads a client secret. Only the canonical form is taken: one spelling, 20 bytes, a kind and a currency that are known.
 * @throws {TypeError} for anything else; the message never holds the secret
 */
export function parseClientSecret(clientSecret: unknown): Scannable {
  const payload = decodeBase58(clientSecret, payloadLength);
  const [kind, index = 0] = payload ?? [];
  const currency = currencyCodes[index];
  // Bytes 2 to 8, the lowest first.
  const hundredths = payload ? readNumber(payload.slice(2, 9).reverse()) : 0n;
  if (payload && kind === 2 && currency) return { kind: 'payment', currency, amount: decimalOf(hundredths), payload };
  if (payload && kind === 3 && index === 0 && hundredths === 0n) return { kind: 'login', payload };
  throw new TypeError('This is no client secret');
}

function decimalOf(hundredths: bigint): string {
  return String(hundredths).padStart(3, '0').replace(/(..)$/, '.$1');
}
