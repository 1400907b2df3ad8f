import { decodeBase58, encodeBase58 } from './base58.js';

/** What PKCS #8 puts in front of the 32 bytes of an Ed25519 seed (RFC 8410 section 7), in Base64. */
const pkcs8Prefix = 'MC4CAQAwBQYDK2VwBCIEIA';

/**
 * The id of an intent, which everyone may know, from its payload, which is this browser's alone: the SHA-256 of the payload
 * is the seed of a key pair, and the public key is the id (protocol section 2).
 * @returns Base58 of 32 bytes
 */
export async function intentIdOf(payload: Uint8Array<ArrayBuffer>): Promise<string> {
  const seed = new Uint8Array(await crypto.subtle.digest('SHA-256', payload));
  return encodeBase58(await nativePublicKey(seed).catch(() => portablePublicKey(seed)));
}

/** A private key leaves WebCrypto as a JWK with its public half in `x`; there is no shorter way to get at it. */
async function nativePublicKey(seed: Uint8Array): Promise<Uint8Array> {
  const bytes = Uint8Array.from([...readBase64(pkcs8Prefix), ...seed]);
  const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', true, ['sign']);
  const { x = '' } = await crypto.subtle.exportKey('jwk', key);
  return readBase64(x.replaceAll('-', '+').replaceAll('_', '/'));
}

const readBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Loaded from beside this file, and only by browsers that need it. */
const portablePublicKey = async (seed: Uint8Array): Promise<Uint8Array> =>
  (await import('./portable-ed25519.js')).publicKeyOf(seed);

/** Whether a text can be an id; what comes out of a store is not believed. */
export function isIntentId(text: unknown): text is string {
  return !!decodeBase58(text, 32);
}
