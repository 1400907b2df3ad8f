import { formatBase58 } from '../../keys/base58.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import type { IntentRecord } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { requireBytes32 } from './signed-request.js';

/** MicroPayment.getStatus (interface sections 2.6 and 4.4). An unknown intent simply does not exist. */
export function getStatus({ intents }: SequencerState, body: Uint8Array): Uint8Array {
  const { intentId } = decode(v1.GetStatusRequest, body);
  const record = intents.get(formatBase58(requireBytes32(intentId, 'intent_id')));
  return encode(v1.GetStatusResponse, record ? statusOf(record) : {});
}

/** The three flags of an intent. */
export function statusOf({ codeScanned, submitted }: IntentRecord): v1.GetStatusResponse.$Properties {
  return { exists: true, codeScanned, intentSubmitted: submitted };
}
