import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { IntentError } from '../../errors.js';
import { readError } from '../outbound/read-error.js';

export interface ListenOptions {
  /** Port on 127.0.0.1; 0 is any free one. */
  readonly port: number;
  /** What sets the port, for whoever must choose another one. */
  readonly setting: string;
  /** Whether the process may end while the server listens. */
  readonly unref: boolean;
}

/** Lets a server listen on the loopback address alone; gives its port. @throws {IntentError} `invalid_configuration` */
export async function listen(server: Server, { port, setting, unref }: ListenOptions): Promise<number> {
  if (unref) neverHold(server);
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (cause) {
    const { code } = readError(cause);
    const reason = code === 'EADDRINUSE' ? 'it is in use' : String(code);
    throw new IntentError(
      'invalid_configuration',
      `The embedded sequencer cannot listen on port ${port} (${reason}): set ${setting} to a free port.`,
      { cause },
    );
  }
  return (server.address() as AddressInfo).port;
}

function neverHold(server: Server): void {
  server.unref();
  server.on('connection', (socket: Socket) => socket.unref());
}
