import { webcrypto } from 'node:crypto';
import { loadJose } from '../webhook/load-jose.js';
import type { IntentUser } from './session-store.js';

/** Imported once: that costs a third of what it costs to open a cookie. */
const imported = new WeakMap<Uint8Array, Promise<webcrypto.CryptoKey>>();

function cryptoKeyOf(key: Uint8Array): Promise<webcrypto.CryptoKey> {
  const known = imported.get(key) ?? webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  imported.set(key, known);
  return known;
}

/** Seals who is logged in into a text only this site can make or read: a JWE, direct, A256GCM (RFC 7516). */
export async function sealSession(user: IntentUser, key: Uint8Array, endsAtMs: number): Promise<string> {
  const { EncryptJWT } = await loadJose();
  return new EncryptJWT({})
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setSubject(user.id)
    .setExpirationTime(Math.floor(endsAtMs / 1000))
    .encrypt(await cryptoKeyOf(key));
}

/** Opens it with whichever of the keys sealed it; undefined for anything forged, foreign or expired. */
export async function openSession(
  sealed: string,
  keys: readonly Uint8Array[],
  nowMs: number,
): Promise<IntentUser | undefined> {
  const { jwtDecrypt } = await loadJose();
  const limits = {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
    requiredClaims: ['sub', 'exp'],
    currentDate: new Date(nowMs),
  };
  for (const key of keys) {
    try {
      const { payload } = await jwtDecrypt(sealed, await cryptoKeyOf(key), limits);
      return payload.sub === undefined ? undefined : { id: payload.sub };
    } catch {
      // Sealed with another of the keys, or not by us.
    }
  }
  return undefined;
}
