import { IntentError } from '../../errors.js';
import { signedBytesOf } from '../../intents/signed-intent.js';
import { type IntentRequest, verifyIntent } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import type { v1 } from '../../wire/codec.js';
import { asSent } from '../state/mailbox.js';

/** An intent that has been verified, ready to be kept. */
export interface CreatedIntent {
  /** Base58 */
  readonly id: string;
  readonly request: IntentRequest;
  readonly signedBytes: Uint8Array;
  /** With the signature in, as readers of the rendezvous get it. */
  readonly message: v1.Message.$Properties;
}

/**
 * Verifies a message that creates an intent, as far as it can be done without asking anyone (protocol section 6).
 * @throws {IntentError} as `verifyIntent` does
 */
export function readCreatedIntent(
  message: v1.Message,
  key: Uint8Array,
  signature: Uint8Array,
  signedBytes: Uint8Array = signedBytesOf(message),
): CreatedIntent {
  requireNoId(message);
  return {
    id: formatBase58(key),
    request: verifyIntent(message, key, signature, signedBytes),
    signedBytes,
    message: asSent({ ...message, sendMessageRequestSignature: { value: signature } }, signedBytes),
  };
}

/** @throws {IntentError} `malformed_message`: ids are given by the sequencer, never by a client (protocol section 3) */
export function requireNoId({ id }: v1.Message): void {
  if (id) throw new IntentError('malformed_message', 'A message id is given by the sequencer: leave it unset.');
}
