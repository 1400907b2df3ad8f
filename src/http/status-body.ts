import type { IntentStatus } from '../sequencer/calls.js';
import type { Answer } from './openapi/answer-schemas.js';

/** The three flags by the names of the interface, section 2.6. */
export type StatusBody = Answer<'Status'>;

export function statusBody({ exists, codeScanned, intentSubmitted }: IntentStatus): StatusBody {
  return { exists, code_scanned: codeScanned, intent_submitted: intentSubmitted };
}
