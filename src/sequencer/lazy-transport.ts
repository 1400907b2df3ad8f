import type { Transport } from './transport.js';

/** A transport that is made at its first call: what has to be loaded or started for it then is, once. */
export function lazyTransport(start: () => Promise<Transport>): Transport {
  let started: Promise<Transport> | undefined;
  const transport = (): Promise<Transport> => {
    started ??= start().catch((error) => {
      // Not for ever: what is in the way now may be gone at the next call.
      started = undefined;
      throw error;
    });
    return started;
  };
  return {
    call: async (operation, body, options) => (await transport()).call(operation, body, options),
    // One without streams gives an empty one: the status is asked for instead.
    openStream: async function* (operation, body, options) {
      yield* (await transport()).openStream?.(operation, body, options) ?? [];
    },
    close: async () => (await started?.catch(() => undefined))?.close(),
  };
}
