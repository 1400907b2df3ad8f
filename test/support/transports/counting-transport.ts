import type { Transport } from '../../../src/sequencer/transport.js';

/** A way to a sequencer that says OK to everything, and tells how often it was asked. */
export function countingTransport(): Transport & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    call: async ({ method }) => {
      calls.push(method);
      return new Uint8Array();
    },
    close: async () => undefined,
  };
}
