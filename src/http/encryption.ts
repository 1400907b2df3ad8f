import { createCipheriv, randomBytes, webcrypto } from 'node:crypto';
import { IntentError } from '../errors.js';

// Sealed values are JWEs with a direct key and A256GCM (RFC 7516): only a holder of the key can read or create one.

let loading: Promise<typeof import('jose')> | undefined;

/** Loads jose at first use. Repeating the `import` each time would cost more than the encryption. */
export function loadJose(): Promise<typeof import('jose')> {
  loading ??= import('jose');
  return loading;
}

/** Who created an intent, and may see its client secret again: a browser or the site. */
export interface IntentOwner {
  /** Identifies the owner: 32 bytes for a browser, empty for the site. */
  readonly hash: Uint8Array;
  /** Whether this request has just set the browser's cookie, so no earlier intent of this owner exists. */
  readonly isNew?: boolean;
  deriveKey(purpose: string): Uint8Array;
  /** The keys from before a rotation. They only decrypt. */
  deriveFormerKeys?(purpose: string): readonly Uint8Array[];
}

/** The intent id is part of the purpose, so a sealed secret cannot be copied to another intent. */
const clientSecretPurpose = (intentId: string): string => `express-intents client secret v1 of ${intentId}`;

const sealedHeader = Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url');

/** Creates the same JWE as jose, whose asynchronous encryption costs five times as much: each call waits for a thread. */
export function sealClientSecret(clientSecret: string, intentId: string, owner: IntentOwner): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', owner.deriveKey(clientSecretPurpose(intentId)), iv);
  cipher.setAAD(Buffer.from(sealedHeader));
  const ciphertext = Buffer.concat([cipher.update(clientSecret, 'utf8'), cipher.final()]);
  const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'));
  return [sealedHeader, '', ...parts].join('.');
}

/** @throws {IntentError} `internal_error` if it was sealed for another owner or intent, or was changed */
export async function openClientSecret(sealed: string, intentId: string, owner: IntentOwner): Promise<string> {
  const { compactDecrypt } = await loadJose();
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  const purpose = clientSecretPurpose(intentId);
  let cause: unknown;
  for (const key of [owner.deriveKey(purpose), ...(owner.deriveFormerKeys?.(purpose) ?? [])]) {
    try {
      return new TextDecoder().decode((await compactDecrypt(sealed, key, algorithms)).plaintext);
    } catch (error) {
      cause ??= error;
    }
  }
  const message =
    `The stored client secret cannot be decrypted. ${owner.hash.length > 0 ? 'The' : siteFix} ledger was changed: ` +
    'create the intent again with another idempotency key. The earlier intent can still be paid.';
  throw new IntentError('internal_error', message, { cause });
}

/** Only for the site as the owner: the key of a browser depends on its cookie, not on settings. */
const siteFix =
  'If the site has a new INTENT_SECRET or verifier secret, append the former one to it, after a comma. If INTENT_SECRET was ' +
  'added or removed, undo that. Otherwise the';

/** The site's cookie keys, each imported once: an import costs a third of a decryption. */
const importedKeys = new WeakMap<Uint8Array, Promise<webcrypto.CryptoKey>>();

function importKey(key: Uint8Array): Promise<webcrypto.CryptoKey> {
  const imported =
    importedKeys.get(key) ?? webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  importedKeys.set(key, imported);
  return imported;
}

export async function sealSession(userId: string, key: Uint8Array, expiresAtMs: number): Promise<string> {
  const { EncryptJWT } = await loadJose();
  return new EncryptJWT({})
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setSubject(userId)
    .setExpirationTime(Math.floor(expiresAtMs / 1000))
    .encrypt(await importKey(key));
}

/** The user id of a sealed session; undefined if none of the keys sealed it, or it has expired. */
export async function openSession(
  sealed: string,
  keys: readonly Uint8Array[],
  nowMs: number,
): Promise<string | undefined> {
  const { jwtDecrypt } = await loadJose();
  const options = {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
    requiredClaims: ['sub', 'exp'],
    currentDate: new Date(nowMs),
  };
  for (const key of keys) {
    try {
      const { payload } = await jwtDecrypt(sealed, await importKey(key), options);
      return payload.sub;
    } catch {
      // Sealed with another key, forged, or expired.
    }
  }
  return undefined;
}
