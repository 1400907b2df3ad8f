import { namedRendezvous } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { decode, v1 } from '../../wire/codec.js';
import type { Operation } from '../../wire/envelope.js';
import { operationNameOf } from './faulty-operation.js';

/** The id of the intent that a request is about; undefined where it cannot be read. */
export function namedIntent({ body, ...operation }: Operation & { readonly body: Uint8Array }): string | undefined {
  try {
    const key = keyIn(operation, body);
    return key?.length === 32 ? formatBase58(key) : undefined;
  } catch {
    return undefined;
  }
}

function keyIn(operation: Operation, body: Uint8Array): Uint8Array | null | undefined {
  const name = operationNameOf(operation);
  if (name === 'createIntent') return namedRendezvous(decode(v1.Message, body));
  if (name === 'sendMessage') return decode(v1.SendMessageRequest, body).rendezvousKey?.value;
  // All others name their intent, or its rendezvous, in field 1, where an id and a key look the same.
  return decode(v1.GetStatusRequest, body).intentId?.value;
}
