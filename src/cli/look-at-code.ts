import { fetchRequest, openCode, type WalletRequest } from '../emulator/read-code.js';
import { getStatus, type IntentStatus } from '../sequencer/calls.js';
import { createHttpTransport } from '../sequencer/http-transport.js';

/** What a code asks for, and how far it has got. */
export interface SeenCode extends WalletRequest {
  readonly status: IntentStatus;
}

const timeoutMs = 10_000;

/**
 * Fetches what a code asks for and verifies it as a wallet does, without telling anybody that the code was scanned.
 * @throws {IntentError} as `fetchRequest`
 */
export async function lookAtCode(url: string, code: string): Promise<SeenCode> {
  const request = await fetchRequest(url, openCode(code));
  const transport = createHttpTransport({ url, timeoutMs });
  try {
    return { ...request, status: await getStatus(transport, request.id, { signal: AbortSignal.timeout(timeoutMs) }) };
  } finally {
    await transport.close();
  }
}
