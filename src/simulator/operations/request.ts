import { IntentError } from '../../errors.js';
import { bytesToSign } from '../../intents/signed-intent.js';
import { rendezvousKeyIn } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { requireVerifyingKey } from '../../keys/verifying-key.js';
import { decode, v1 } from '../../wire/codec.js';
import { type Operation, operations } from '../../wire/envelope.js';
import { submitPayment } from '../../wire/simulator-codec.js';

/** The content of an envelope: an operation and the serialized inner request. */
export interface OperationRequest extends Operation {
  readonly body: Uint8Array;
}

const served = { ...operations, submitPayment } as const;

/** An operation of the simulator: one of the interface, or `submitPayment`, with which the simulated wallet pays. */
export type SequencerOperation = keyof typeof served;

export const sequencerOperationNames = Object.keys(served) as [SequencerOperation, ...SequencerOperation[]];

export function sequencerOperationOf({ service, method }: Operation): SequencerOperation | undefined {
  return sequencerOperationNames.find((name) => served[name].service === service && served[name].method === method);
}

/** The intent id in a request; undefined if it cannot be read. */
export function intentIdIn(request: OperationRequest): string | undefined {
  try {
    const key = keyIn(request);
    return key?.length === 32 ? formatBase58(key) : undefined;
  } catch {
    return undefined;
  }
}

function keyIn({ body, ...operation }: OperationRequest): Uint8Array | null | undefined {
  const name = sequencerOperationOf(operation);
  if (name === 'createIntent') return rendezvousKeyIn(decode(v1.Message, body));
  if (name === 'sendMessage') return decode(v1.SendMessageRequest, body).rendezvousKey?.value;
  // All others have an intent id or a rendezvous key in field 1, with equal encodings.
  return decode(v1.GetStatusRequest, body).intentId?.value;
}

/** A key, id or account of 32 bytes. @throws {IntentError} `malformed_message` */
export function requireBytes32(field: { value?: Uint8Array | null } | null | undefined, name: string): Uint8Array {
  if (field?.value?.length === 32) return field.value;
  throw new IntentError('malformed_message', `${name} must have 32 bytes.`);
}

/** Requires the request's own signature by `publicKey` (protocol section 4). @throws {IntentError} `invalid_signature`, `invalid_key` */
export function requireSignature<Request extends { signature?: v1.Signature.$Properties | null }>(
  codec: Parameters<typeof bytesToSign<Request>>[0],
  request: Request,
  publicKey: Uint8Array,
): void {
  const signature = request.signature?.value ?? new Uint8Array();
  if (verifySignature(requireVerifyingKey(publicKey), bytesToSign(codec, request), signature)) return;
  throw new IntentError('invalid_signature', 'The request is not signed by the key it names.');
}
