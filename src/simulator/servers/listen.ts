import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { IntentError, readError } from '../../errors.js';

export interface ListenOptions {
  /** Port on 127.0.0.1; 0 for any free port. */
  readonly port: number;
  /** How to choose another port, for the error message. */
  readonly fix: string;
  /** Whether the process may exit while the server listens. */
  readonly unref: boolean;
}

/** Listens on the loopback address only, and returns the port. @throws {IntentError} `invalid_configuration` */
export async function listen(server: Server, { port, fix, unref }: ListenOptions): Promise<number> {
  if (unref) unrefConnections(server);
  try {
    // Without `exclusive` the workers of a cluster share the port, and each would have its own intents.
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    const { code } = readError(cause);
    const reason = code === 'EADDRINUSE' ? 'it is in use' : String(code);
    throw new IntentError('invalid_configuration', `The simulator cannot listen on port ${port} (${reason}). ${fix}`, {
      cause,
    });
  }
  return (server.address() as AddressInfo).port;
}

function unrefConnections(server: Server): void {
  server.unref();
  server.on('connection', (socket: Socket) => socket.unref());
}
