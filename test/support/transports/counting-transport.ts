import type { Transport } from '../../../src/sequencer/transport.js';
import { plainSuccess } from '../sequencers/fault-sequencer.js';

/** A way to a sequencer that says OK to everything, and tells how often it was asked. */
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
