import { parseIntentId } from '../keys/base58.js';
import type { IntentRecord } from './intent-store.js';

/** An intent has been submitted: its status says so, and its rendezvous is told (interface sections 2.6 and 6). */
export function markSubmitted(record: IntentRecord): void {
  record.submitted = true;
  record.mailbox.add({ intentSubmitted: { intentId: { value: parseIntentId(record.id) } } });
}

/** The scheduled transactions of a payment failed: it is as if nobody had paid (protocol section 6). */
export function reverseSubmission(record: IntentRecord): void {
  record.submitted = false;
  record.payer = undefined;
}
