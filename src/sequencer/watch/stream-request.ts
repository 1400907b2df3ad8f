import { IntentError } from '../../errors.js';
import { parseClientSecret } from '../../intents/payload.js';
import { intentIdOf, rendezvousKeyPair } from '../../intents/rendezvous.js';
import { unsignedBytes } from '../../intents/signed-intent.js';
import { encode, v1 } from '../../wire/codec.js';

/** What opens the message stream of an intent (interface section 4.5). */
export interface StreamRequest {
  /** The rendezvous public key, 32 bytes. */
  readonly rendezvousKey: Uint8Array;
  /** The serialized OpenMessageStreamRequest, signed by the rendezvous key. */
  readonly body: Uint8Array;
}

/** @throws {IntentError} `invalid_client_secret`, also where the secret is that of another intent */
export function signStreamRequest(id: string, clientSecret: string): StreamRequest {
  const rendezvous = rendezvousKeyPair(parseClientSecret(clientSecret));
  if (intentIdOf(rendezvous) !== id) {
    throw new IntentError('invalid_client_secret', 'The client secret is that of another intent.');
  }
  const codec = v1.OpenMessageStreamRequest;
  const unsigned = { rendezvousKey: { value: rendezvous.publicKey } };
  const signature = { value: rendezvous.sign(unsignedBytes(codec, unsigned)) };
  return { rendezvousKey: rendezvous.publicKey, body: encode(codec, { ...unsigned, signature }) };
}
