import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { toReaders } from '../state/mailbox.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { requireBytes32, requireSignature } from './signed-request.js';

/** Messaging.pollMessages (protocol section 5). Where no intent is, no messages are. */
export function pollMessages({ intents }: SequencerState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.PollMessagesRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  requireSignature(v1.PollMessagesRequest, request, key);
  const messages = intents.get(formatBase58(key))?.mailbox.undelivered ?? [];
  return encode(v1.PollMessagesResponse, { messages: messages.map(toReaders) });
}

/** Messaging.ackMessages (protocol section 5). Acknowledging twice, or what is not there, is fine. */
export function ackMessages({ intents }: SequencerState, body: Uint8Array): Uint8Array {
  const { rendezvousKey, messageIds } = decode(v1.AckMessagesRequest, body);
  const record = intents.get(formatBase58(requireBytes32(rendezvousKey, 'rendezvous_key')));
  record?.mailbox.acknowledge((messageIds ?? []).map(({ value }) => value ?? new Uint8Array()));
  return encode(v1.AckMessagesResponse, {});
}
