import { IntentError } from '../../src/errors.js';

/** The code of the IntentError that `action` throws. Any other error is rethrown, and a missing one throws. */
export function thrownCode(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return codeOf(error);
  }
  return 'nothing was thrown';
}

/** Like `thrownCode`, for a promise. */
export async function rejectedCode(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return codeOf(error);
  }
  return 'nothing was thrown';
}

function codeOf(error: unknown): string {
  if (error instanceof IntentError) return error.code;
  throw error;
}
