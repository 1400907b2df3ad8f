import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { JWTPayload, JWTVerifyResult } from 'jose';
import { IntentError } from '../../errors.js';
import { parseBase58, parseIntentId } from '../../keys/base58.js';
import { loadJose } from './load-jose.js';

/** A call that the service has signed. */
export interface VerifiedWebhook {
  /** Base58 */
  readonly intentId: string;
  /** The same for the same call, however its text is varied: SHA-256 of what is signed, base64. */
  readonly digest: string;
}

export interface WebhookVerifierOptions {
  /** Public keys of the service, Base58 of 32 bytes each. */
  readonly serviceKeys: () => Promise<readonly string[]>;
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/** Verifies the JWT of a webhook call. @throws {IntentError} `invalid_webhook`, with why in `cause` */
export type WebhookVerifier = (jwt: string) => Promise<VerifiedWebhook>;

/** The clocks of two machines differ. */
const clockToleranceSeconds = 60;

/** With these a token brings a key of its own, or asks to be read by other rules than ours. */
const refusedHeaders = ['jwk', 'jku', 'x5c', 'x5u', 'crit', 'b64'];

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A verifier of webhook calls (protocol section 5): EdDSA by one of the service's keys, and nothing else. */
export function createWebhookVerifier({ serviceKeys, now }: WebhookVerifierOptions): WebhookVerifier {
  let imported: Promise<readonly KeyObject[]> | undefined;
  return async (jwt) => {
    if (!jwtForm.test(jwt)) throw invalid(new Error('It is no JWT.'));
    imported ??= serviceKeys().then((keys) => keys.map(importServiceKey));
    // The keys of an embedded sequencer that has not started may be there at the next call.
    imported.catch(() => {
      imported = undefined;
    });
    const { payload, protectedHeader } = await verifyWithAny(jwt, await imported, new Date(now()));
    const refused = refusedHeaders.find((name) => Object.hasOwn(protectedHeader, name));
    if (refused) throw invalid(new Error(`It has the header ${refused}.`));
    return { intentId: intentIdOf(payload), digest: digestOf(jwt) };
  };
}

function importServiceKey(publicKey: string): KeyObject {
  const x = Buffer.from(parseBase58(publicKey, 32, 'invalid_key')).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** While the service changes its key, either may have signed. */
async function verifyWithAny(jwt: string, keys: readonly KeyObject[], currentDate: Date): Promise<JWTVerifyResult> {
  const { jwtVerify } = await loadJose();
  let cause: unknown;
  for (const key of keys) {
    try {
      return await jwtVerify(jwt, key, { algorithms: ['EdDSA'], currentDate, clockTolerance: clockToleranceSeconds });
    } catch (error) {
      cause = error;
    }
  }
  throw invalid(cause);
}

/** Of all the claims only these two are read, and only to know where to look: the others prove nothing. */
function intentIdOf({ intent, state }: JWTPayload): string {
  if (typeof intent !== 'string' || typeof state !== 'string') throw invalid(new Error('A claim is missing.'));
  try {
    parseIntentId(intent);
    return intent;
  } catch (cause) {
    throw invalid(cause);
  }
}

/** The signature stays out: its last character has bits that count for nothing, so it can be written in several ways. */
function digestOf(jwt: string): string {
  return createHash('sha256')
    .update(jwt.slice(0, jwt.lastIndexOf('.')))
    .digest('base64');
}

/** Whoever calls is told no more than that it was not taken. */
const invalid = (cause: unknown): IntentError => new IntentError('invalid_webhook', undefined, { cause });
