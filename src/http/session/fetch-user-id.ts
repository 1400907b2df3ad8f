import { IntentError } from '../../errors.js';
import type { VerifierKeyRing } from '../../keys/key-ring.js';
import type { IntentClient } from '../../sequencer/intent-client.js';
import type { CallOptions } from '../../sequencer/transport.js';

/**
 * The user who logged in with an intent (interface section 4.7). The payment service answers only the key that the intent names:
 * the signing key, or an earlier one if the intent was created before a rotation.
 * @throws as `loginIntents.getUserId`
 */
export async function fetchUserId(
  { loginIntents }: IntentClient,
  { signers }: VerifierKeyRing,
  intent: string,
  options: CallOptions,
): Promise<string> {
  let unknown: unknown;
  for (const verifier of signers) {
    try {
      return (await loginIntents.getUserId({ intent, verifier }, options)).userId;
    } catch (error) {
      if (!(error instanceof IntentError && error.code === 'intent_not_found')) throw error;
      unknown ??= error;
    }
  }
  throw unknown;
}
