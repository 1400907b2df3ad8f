import { parseVerifierKey } from '../keys/base58.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { v1 } from '../wire/codec.js';
import { type LoginTerms, newNonce, type SignedIntent, signIntent, withVerifierSignature } from './signed-intent.js';

/**
 * Builds and signs a login intent (interface sections 2.5 and 5.3).
 * @param options `nonce`: 11 bytes, by default from the system's random source
 * @throws {IntentError} `invalid_domain`, `invalid_key`, `signer_failed`
 */
export async function signLoginIntent(
  { domain, verifier }: LoginTerms,
  { nonce = newNonce() }: { readonly nonce?: Uint8Array } = {},
): Promise<SignedIntent> {
  const request = {
    domain: { domain: parseVerifierDomain(domain) },
    verifier: { value: parseVerifierKey(verifier.publicKey) },
  };
  return signIntent({ kind: 'login', nonce }, async (rendezvousKey) => ({
    requestToLogin: await withVerifierSignature(
      v1.RequestToLogin,
      { ...request, rendezvousKey: { value: rendezvousKey } },
      verifier,
    ),
  }));
}
