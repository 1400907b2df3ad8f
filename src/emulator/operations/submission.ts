import { IntentError } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import type { IntentProgress, IntentRecord } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';

/** An intent has been submitted: its status says so, and its rendezvous is told (interface sections 2.6 and 6). */
export function markSubmitted(
  { intents }: SequencerState,
  record: IntentRecord,
  by: Pick<Partial<IntentProgress>, 'payer' | 'userId'>,
): void {
  intents.update(record, { ...by, submitted: true, reversed: false });
  record.mailbox.add({ intentSubmitted: { intentId: { value: parseIntentId(record.id) } } });
  // Here, because those who read the rendezvous hear of it before the wallet has its answer.
  intents.save();
}

/**
 * The scheduled transactions of a payment failed: it is as if nobody had paid (protocol section 6).
 * @throws {IntentError} `intent_not_found`
 */
export function reverseSubmission({ intents, journal }: SequencerState, id: string): void {
  const record = intents.require(id);
  intents.update(record, { submitted: false, payer: undefined, reversed: record.submitted || record.reversed });
  intents.save();
  journal.note(id, { kind: 'reversed' });
}

/** What was paid can fail, and nothing else. @throws {IntentError} `invalid_request` */
export function requireReversible({ request, submitted }: IntentRecord): void {
  if (request.kind === 'payment' && submitted) return;
  throw new IntentError('invalid_request', 'Only a payment that was submitted can be reversed.');
}
