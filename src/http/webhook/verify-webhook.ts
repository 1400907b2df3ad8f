import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { JWTPayload, JWTVerifyResult } from 'jose';
import { IntentError, messageOf } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { parseVerifyingKey } from '../../keys/verifying-key.js';
import { loadJose } from '../encryption.js';

export interface VerifiedWebhook {
  readonly intentId: string;
  /** Identifies the call: SHA-256 of its signed part, base64. */
  readonly digest: string;
}

export interface WebhookVerifierOptions {
  readonly webhookPublicKeys: () => Promise<readonly string[]>;
  readonly now: () => number;
}

/** Verifies the JWT of a webhook call. @throws {IntentError} `invalid_webhook`, with the reason and the fix in `cause` */
export type WebhookVerifier = (jwt: string) => Promise<VerifiedWebhook>;

/** Allows for clock skew between machines. */
const clockToleranceSeconds = 60;

/** Headers with which a token supplies its own key or changes the verification. */
const refusedHeaders = ['jwk', 'jku', 'x5c', 'x5u', 'crit', 'b64'];

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A verifier of webhook calls (protocol section 5). Accepts only EdDSA signatures with a key of the service. */
export function createWebhookVerifier({ webhookPublicKeys, now }: WebhookVerifierOptions): WebhookVerifier {
  let imported: Promise<readonly KeyObject[]> | undefined;
  return async (jwt) => {
    if (!jwtForm.test(jwt)) throw invalid('The body is not a JWT.', parserFix);
    imported ??= webhookPublicKeys().then((keys) => keys.map(importServiceKey));
    // The simulator may not have started. The next call retries.
    imported.catch(() => {
      imported = undefined;
    });
    const { payload, protectedHeader } = await verifyWithAny(jwt, await imported, new Date(now()));
    const refused = refusedHeaders.find((name) => Object.hasOwn(protectedHeader, name));
    if (refused) throw invalid(`The header ${refused} is not allowed.`, contentFix);
    return { intentId: intentIdOf(payload), digest: digestOf(jwt) };
  };
}

function importServiceKey(publicKey: string): KeyObject {
  const x = Buffer.from(parseVerifyingKey(publicKey)).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** During a key rotation of the service, either key may have signed. */
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
  throw invalid(`${messageOf(cause)}.`, keyFix);
}

/** Reads two claims, only to find the intent to recheck: claims are not proof. */
function intentIdOf({ intent, state }: JWTPayload): string {
  if (typeof intent !== 'string' || typeof state !== 'string')
    throw invalid('The claim intent or state is missing.', contentFix);
  try {
    parseIntentId(intent);
    return intent;
  } catch (error) {
    throw invalid(messageOf(error), contentFix);
  }
}

/** Excludes the signature: the unused bits of its last character allow several encodings. */
function digestOf(jwt: string): string {
  return createHash('sha256')
    .update(jwt.slice(0, jwt.lastIndexOf('.')))
    .digest('base64');
}

const parserFix = 'mount the router before body parsers for application/jwt.';
const keyFix = 'check the clock and, unless the simulator sends it, INTENT_WEBHOOK_PUBLIC_KEY.';
const contentFix = 'report this error to its operator.';

/** The reason is not exposed to the caller. */
const invalid = (reason: string, fix: string): IntentError =>
  new IntentError('invalid_webhook', undefined, {
    cause: new Error(`${reason} If the sequencer sent it, ${fix}`),
  });
