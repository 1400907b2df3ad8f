import { IntentError } from '../../errors.js';
import { unsignedBytes } from '../../intents/signed-intent.js';
import { verifySignature } from '../../keys/ed25519.js';
import type { v1 } from '../../wire/codec.js';

interface Signed {
  signature?: v1.Signature.$Properties | null;
}

/**
 * Lets a request pass whose own field `signature` is by `publicKey` (protocol section 4).
 * @throws {IntentError} `invalid_signature`
 */
export function requireSignature<Request extends Signed>(
  codec: Parameters<typeof unsignedBytes<Request>>[0],
  request: Request,
  publicKey: Uint8Array,
): void {
  const signature = request.signature?.value ?? new Uint8Array();
  if (verifySignature(publicKey, unsignedBytes(codec, request), signature)) return;
  throw new IntentError('invalid_signature', 'The request is not signed by the key it names.');
}

/** A key, id or account of 32 bytes. @throws {IntentError} `malformed_message` */
export function requireBytes32(field: { value?: Uint8Array | null } | null | undefined, name: string): Uint8Array {
  if (field?.value?.length === 32) return field.value;
  throw new IntentError('malformed_message', `${name} must have 32 bytes.`);
}
