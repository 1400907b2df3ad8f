import { IntentError } from '../../errors.js';
import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58, parseIntentId } from '../../keys/base58.js';
import { encode } from '../../wire/codec.js';
import { simulator } from '../../wire/simulator-codec.js';
import type { IntentProgress, StoredIntent } from '../state/intent-store.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { requireBytes32, requireSignature } from './request.js';

const { Result } = simulator.SubmitPaymentResponse;

/** Simulator.submitPayment: called by the simulated wallet, not part of the interface. No money moves. */
export function handleSubmitPayment(state: SimulatorState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(simulator.SubmitPaymentRequest, body);
  return encode(simulator.SubmitPaymentResponse, { result: pay(state, request) });
}

function pay(state: SimulatorState, request: simulator.SubmitPaymentRequest): simulator.SubmitPaymentResponse.Result {
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const payer = requireBytes32(request.payer, 'payer');
  requireSignature(simulator.SubmitPaymentRequest, request, payer);

  const intent = state.intents.get(id);
  if (intent?.request.kind !== 'payment') return Result.REQUEST_NOT_FOUND;
  if (intent.payer) {
    // A wallet that did not receive the response retries.
    return Buffer.compare(intent.payer, payer) === 0 ? Result.OK : Result.ALREADY_PAID;
  }
  markSubmitted(state, intent, { payer });
  state.webhooks.call(intent, state.journal);
  return Result.OK;
}

/** Marks an intent submitted and adds `intent_submitted` to its rendezvous (interface sections 2.6 and 6). */
export function markSubmitted(
  { intents }: SimulatorState,
  intent: StoredIntent,
  by: Pick<Partial<IntentProgress>, 'payer' | 'userId'>,
): void {
  intents.update(intent, { ...by, submitted: true, reversed: false });
  intent.mailbox.add({ intentSubmitted: { intentId: { value: parseIntentId(intent.id) } } });
  // Saved now, because readers receive the message before the wallet receives its response.
  intents.save();
}

/**
 * Reverses a submitted payment, as when its transactions fail: its status is again that of an unpaid one (protocol section 6).
 * @throws {IntentError} `intent_not_found`, `invalid_request` for a payment that is not submitted, or a login
 */
export function reversePayment({ intents, journal }: SimulatorState, id: string): void {
  const intent = intents.require(id);
  if (intent.request.kind !== 'payment' || !intent.submitted)
    throw new IntentError('invalid_request', 'Only a submitted payment can be reversed.');
  // Another wallet can pay it, and log in with it.
  intents.update(intent, { submitted: false, payer: undefined, userId: undefined, reversed: true });
  intents.save();
  journal.add(id, { kind: 'reversed' });
}
