import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { decode, v1 } from '../../../src/wire/codec.js';

/** Writes the answer of one request, and nothing else: no header is added. `n` counts the requests of its method from 1. */
export type RawAnswer = (socket: Socket, n: number) => void;

export interface RawSequencer {
  /** base_url. */
  readonly url: string;
  close(): Promise<void>;
}

/** A sequencer without an HTTP server: it parses requests itself, and writes the bytes of each answer as the test sets. */
export async function startRawSequencer(answerOf: (method: string) => RawAnswer): Promise<RawSequencer> {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const headEnd = received.indexOf('\r\n\r\n') + 4;
      const [, length] = /content-length: (\d+)/i.exec(received.subarray(0, headEnd).toString()) ?? [];
      if (length === undefined || received.length < headEnd + Number(length)) return;
      const { method } = decode(v1.Request, received.subarray(headEnd));
      received = Buffer.alloc(0);
      const n = (counts.get(method) ?? 0) + 1;
      counts.set(method, n);
      answerOf(method)(socket, n);
    });
    // The client resets connections, too.
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
