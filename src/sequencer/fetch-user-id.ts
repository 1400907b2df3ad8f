import { IntentError } from '../errors.js';
import type { Signer } from '../keys/verifier-key.js';
import { getUserId } from './calls.js';
import type { ResilientTransport } from './resilience/resilient-transport.js';
import type { CallOptions } from './transport.js';

/**
 * The user who logged in with an intent (interface section 4.7). The payment service answers only the key that the intent names:
 * the signing key, or an earlier one if the intent was created before a rotation. `close` waits for the calls with all keys.
 * @throws as `loginIntents.getUserId`
 */
export function fetchUserId(
  transport: ResilientTransport,
  signers: readonly Signer[],
  intent: string,
  options?: CallOptions,
): Promise<string> {
  return transport.run(async (calls) => {
    let unknown: unknown;
    for (const verifier of signers) {
      try {
        return await getUserId(calls, intent, verifier, options);
      } catch (error) {
        if (!(error instanceof IntentError && error.code === 'intent_not_found')) throw error;
        unknown ??= error;
      }
    }
    throw unknown;
  });
}
