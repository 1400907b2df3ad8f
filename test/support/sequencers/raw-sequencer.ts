import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { decode, v1 } from '../../../src/wire/codec.js';

/**
 * Writes the answer of one request, and nothing else: no header is added. `n` counts the requests of its method from 1. A
 * handshake for a message stream has the method `openMessageStream`; what the stream receives is not read.
 * @param head of the request
 */
export type RawAnswer = (socket: Socket, n: number, head: string) => void;

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
    const answer = (method: string, head: string): void => {
      received = Buffer.alloc(0);
      const n = (counts.get(method) ?? 0) + 1;
      counts.set(method, n);
      answerOf(method)(socket, n, head);
    };
    const receive = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const headEnd = received.indexOf('\r\n\r\n') + 4;
      const head = received.subarray(0, headEnd).toString();
      if (/^upgrade: websocket\r$/im.test(head)) {
        socket.off('data', receive).resume();
        answer('openMessageStream', head);
        return;
      }
      const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
      if (length === undefined || received.length < headEnd + Number(length)) return;
      answer(decode(v1.Request, received.subarray(headEnd)).method, head);
    };
    socket.on('data', receive);
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
