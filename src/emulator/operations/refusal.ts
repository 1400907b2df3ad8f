import { IntentError } from '../../errors.js';
import type { Refusal } from '../journal/happening.js';

/** What is told of an error to a caller, and its code. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof IntentError) return { code: error.code, message: error.message };
  return { code: undefined, message: 'The sequencer met an error.' };
}
