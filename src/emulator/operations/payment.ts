import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { encode } from '../../wire/codec.js';
import { emulator } from '../../wire/emulator-codec.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { requireBytes32, requireSignature } from './signed-request.js';
import { markSubmitted } from './submission.js';

const { Result } = emulator.SubmitPaymentResponse;

/** Emulator.submitPayment: how the simulated wallet pays. Not part of the interface; money exists nowhere here. */
export function submitPayment(state: SequencerState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(emulator.SubmitPaymentRequest, body);
  return encode(emulator.SubmitPaymentResponse, { result: pay(state, request) });
}

function pay(state: SequencerState, request: emulator.SubmitPaymentRequest): emulator.SubmitPaymentResponse.Result {
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const payer = requireBytes32(request.payer, 'payer');
  requireSignature(emulator.SubmitPaymentRequest, request, payer);

  const record = state.intents.get(id);
  if (record?.request.kind !== 'payment') return Result.REQUEST_NOT_FOUND;
  if (record.payer) {
    // A wallet that lost the answer asks again: one payment stays one payment.
    return Buffer.compare(record.payer, payer) === 0 ? Result.OK : Result.ALREADY_PAID;
  }
  markSubmitted(state, record, { payer });
  state.webhooks.call(record, state.journal);
  return Result.OK;
}
