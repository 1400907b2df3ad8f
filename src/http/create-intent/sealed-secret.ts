import { IntentError } from '../../errors.js';
import type { KnownBrowser } from '../request/browser-cookie.js';
import { loadJose } from '../webhook/load-jose.js';

/** With the id in it, a secret that was moved to another intent does not open. */
const purposeOf = (intentId: string): string => `express-intents client secret v1 of ${intentId}`;

/** Seals the client secret of an intent under the cookie of its browser: a JWE, direct, A256GCM (RFC 7516). */
export async function sealSecret(clientSecret: string, intentId: string, browser: KnownBrowser): Promise<string> {
  const { CompactEncrypt } = await loadJose();
  return new CompactEncrypt(new TextEncoder().encode(clientSecret))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(browser.deriveKey(purposeOf(intentId)));
}

/** @throws {IntentError} `internal_error` when it was sealed for another browser or intent, or changed since */
export async function openSecret(sealed: string, intentId: string, browser: KnownBrowser): Promise<string> {
  const { compactDecrypt } = await loadJose();
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  try {
    const { plaintext } = await compactDecrypt(sealed, browser.deriveKey(purposeOf(intentId)), algorithms);
    return new TextDecoder().decode(plaintext);
  } catch (cause) {
    throw new IntentError('internal_error', 'A client secret that was kept cannot be opened.', { cause });
  }
}
