import type { Transport } from '../../../src/sequencer/transport.js';

/** The recorded calls of a transport. */
export interface TappedTransport extends Transport {
  readonly calls: { readonly method: string; readonly body: string }[];
  /** The distinct bodies of the calls of one method, base64. */
  different(method: string): Set<string>;
}

/** Records the calls of a transport, which stays open when this one is closed. */
export function tappedTransport({ call, openStream }: Transport): TappedTransport {
  const calls: TappedTransport['calls'] = [];
  return {
    calls,
    call: (operation, body, options) => {
      calls.push({ method: operation.method, body: Buffer.from(body).toString('base64') });
      return call(operation, body, options);
    },
    ...(openStream && { openStream }),
    close: async () => undefined,
    different: (name) => new Set(calls.filter(({ method }) => method === name).map(({ body }) => body)),
  };
}
