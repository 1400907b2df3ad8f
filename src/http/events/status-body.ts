import type { IntentStatus } from '../../sequencer/calls.js';

/** The three flags by the names of the interface, section 2.6. */
export interface StatusBody {
  readonly exists: boolean;
  readonly code_scanned: boolean;
  readonly intent_submitted: boolean;
}

export function statusBody({ exists, codeScanned, intentSubmitted }: IntentStatus): StatusBody {
  return { exists, code_scanned: codeScanned, intent_submitted: intentSubmitted };
}
