import type { IncomingMessage } from 'node:http';

/** Where a server of this very machine is, as a request to it shows; undefined once its connection is gone. */
export function localOriginOf({ socket }: IncomingMessage): string | undefined {
  const { localPort: port, localAddress } = socket;
  if (port === undefined) return undefined;
  // A server that listens on ::1 alone does not answer at 127.0.0.1.
  return `http://${localAddress === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}
