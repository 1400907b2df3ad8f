import { requireThat } from '../validation.js';

// The client secret: canonical Base58 of a 20-byte payload (protocol section 2). The private key of the
// intent is derived from the payload. So is the intent id, which is public.

const payloadLength = 20;

/**
 * Decodes a client secret. Only the canonical Base58 form of 20 bytes of the expected kind is accepted.
 * @throws {TypeError} for anything else; the message never contains the secret
 */
export function decodeClientSecret(
  clientSecret: unknown,
  kind: 'payment' | 'login' | 'payment or login' = 'payment or login',
): Uint8Array<ArrayBuffer> {
  const payload = decodeBase58(clientSecret, payloadLength);
  requireThat(payload && kind.includes(kindOf(payload)), 'client secret', `that of a ${kind} intent`);
  return payload;
}

function kindOf(payload: Uint8Array): 'payment' | 'login' | 'neither' {
  if (payload[0] === 2) return 'payment';
  // A login has neither currency nor amount.
  return payload[0] === 3 && payload.slice(1, 9).every((byte) => byte === 0) ? 'login' : 'neither';
}

/** The PKCS #8 header of an Ed25519 seed (RFC 8410 section 7), in Base64. */
const pkcs8Prefix = 'MC4CAQAwBQYDK2VwBCIEIA';

/** Derives the Ed25519 public key of a seed, both 32 bytes. */
export type PublicKeyOf = (seed: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** The id of an intent, Base58 of 32 bytes: the public key whose seed is the SHA-256 of the payload (protocol section 2). */
export async function deriveIntentId(payload: Uint8Array<ArrayBuffer>, publicKeyOf: PublicKeyOf): Promise<string> {
  return encodeBase58(await publicKeyOf(new Uint8Array(await crypto.subtle.digest('SHA-256', payload))));
}

/** WebCrypto derives a public key only by export: the JWK of a private key has it in `x`. @throws if WebCrypto has no Ed25519 */
export async function nativePublicKey(seed: Uint8Array): Promise<Uint8Array> {
  const bytes = Uint8Array.from([...readBase64(pkcs8Prefix), ...seed]);
  const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', true, ['sign']);
  const { x = '' } = await crypto.subtle.exportKey('jwk', key);
  return readBase64(x.replaceAll('-', '+').replaceAll('_', '/'));
}

const readBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Whether a value has the form of a public key, such as an intent id. */
export const isPublicKey = (text: unknown): text is string => !!decodeBase58(text, 32);

// Base58. The bs58 library is a third of the size of the whole element.

/** The Bitcoin alphabet: digits and letters without 0, O, I and l. */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function encodeBase58(bytes: Uint8Array): string {
  let text = '';
  for (let number = readNumber(bytes); number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  for (let zeros = 0; bytes[zeros] === 0; zeros += 1) text = `1${text}`;
  return text;
}

export function readNumber(bytes: Uint8Array): bigint {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  return number;
}

/** Decodes canonical Base58 of exactly `length` bytes, else returns undefined. Long text is refused before the quadratic decoding. */
export function decodeBase58(text: unknown, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== 'string' || text.length > length * 2) return undefined;
  let number = 0n;
  for (const character of text) number = number * 58n + BigInt(alphabet.indexOf(character));
  const bytes = new Uint8Array(length);
  for (let index = length; index > 0; number >>= 8n) bytes[--index] = Number(number & 255n);
  // Text with other characters or of another length encodes differently.
  return encodeBase58(bytes) === text ? bytes : undefined;
}
