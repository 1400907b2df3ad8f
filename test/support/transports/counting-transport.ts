import type { Transport } from '../../../src/sequencer/transport.js';
import { plainSuccess } from '../sequencers/fault-sequencer.js';

/** A transport that responds to every call with OK, and counts the calls. */
export function countingTransport(): Transport & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    call: async ({ method }) => {
      calls.push(method);
      return plainSuccess(method);
    },
    close: async () => undefined,
  };
}
