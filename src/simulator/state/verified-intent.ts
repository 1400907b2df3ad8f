import { IntentError } from '../../errors.js';
import { encodeSignedBytes } from '../../intents/signed-intent.js';
import { type IntentRequest, verifyIntent } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import type { v1 } from '../../wire/codec.js';
import { type MailboxMessage, withSignedBytes } from './mailbox.js';

export interface VerifiedIntent {
  readonly id: string;
  readonly request: IntentRequest;
  readonly signedBytes: Uint8Array;
  readonly message: MailboxMessage;
}

/** Verifies a message that creates an intent (protocol section 6), not the key file. @throws {IntentError} as `verifyIntent` */
export function verifyIntentMessage(
  message: v1.Message,
  key: Uint8Array,
  signature: Uint8Array,
  signedBytes: Uint8Array = encodeSignedBytes(message),
): VerifiedIntent {
  requireNoMessageId(message);
  return {
    id: formatBase58(key),
    request: verifyIntent(message, key, signature, signedBytes),
    signedBytes,
    message: withSignedBytes({ ...message, sendMessageRequestSignature: { value: signature } }, signedBytes),
  };
}

/** @throws {IntentError} `malformed_message`: the simulator assigns ids, clients do not (protocol section 3) */
export function requireNoMessageId({ id }: v1.Message): void {
  if (id) throw new IntentError('malformed_message', 'The simulator assigns message ids. Leave the id unset.');
}
