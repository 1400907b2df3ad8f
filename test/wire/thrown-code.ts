import { IntentError } from '../../src/errors.js';

/** The code of the IntentError that `action` throws; any other error goes through, and none at all is said. */
export function thrownCode(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return codeOf(error);
  }
  return 'nothing was thrown';
}

/** Like `thrownCode`, of a promise. */
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
