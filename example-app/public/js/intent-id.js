import { decodeBase58, encodeBase58 } from './base58.js';

/** What PKCS #8 puts in front of the 32 bytes of an Ed25519 seed (RFC 8410 section 7). */
const pkcs8Prefix = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/**
 * The id of an intent, which everyone may know, from its client secret, which is this browser's alone. The secret is the
 * payload of 20 bytes; its SHA-256 is the seed of a key pair, and the public key is the id.
 * @param {string} clientSecret Base58
 * @returns {Promise<string>} Base58
 */
export async function intentIdOf(clientSecret) {
  const payload = decodeBase58(clientSecret);
  const seed = new Uint8Array(await crypto.subtle.digest('SHA-256', payload));
  return encodeBase58((await nativePublicKey(seed)) ?? (await portablePublicKey(seed)));
}

/**
 * A private key leaves WebCrypto as a JWK with its public half in `x`; there is no shorter way to get at it.
 * @param {Uint8Array} seed
 * @returns {Promise<Uint8Array | undefined>} undefined where the browser has no Ed25519
 */
async function nativePublicKey(seed) {
  try {
    const bytes = new Uint8Array([...pkcs8Prefix, ...seed]);
    const key = await crypto.subtle.importKey('pkcs8', bytes, { name: 'Ed25519' }, true, ['sign']);
    const { x = '' } = await crypto.subtle.exportKey('jwk', key);
    const binary = atob(x.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * @param {Uint8Array} seed
 * @returns {Promise<Uint8Array>}
 */
async function portablePublicKey(seed) {
  // It is no module and leaves its name at the global object; only browsers that need it load it.
  await import('/vendor/nacl.js');
  return globalThis.nacl.sign.keyPair.fromSeed(seed).publicKey;
}
