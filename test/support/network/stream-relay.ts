import { connect, createServer, type Socket } from 'node:net';
import { eventually } from '../eventually.js';

/** A relay between a client and a sequencer that counts and can cut connections with streams (WebSocket, HTTP/2). */
export interface StreamRelay {
  /** base_url, instead of that of the sequencer. */
  readonly url: string;
  /** The number of connections so far. */
  readonly opened: number;
  readonly open: number;
  /** Cuts open connections without a closing frame. */
  cut(): void;
  /** Waits until no connection is open. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function startStreamRelay(sequencerUrl: string): Promise<StreamRelay> {
  const { port } = new URL(sequencerUrl);
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  let opened = 0;
  const server = createServer((socket) => {
    const upstream = connect(Number(port), '127.0.0.1');
    socket.once('data', (head) => {
      if (!/^(?:upgrade: websocket|PRI \* HTTP\/2)/im.test(String(head))) return;
      opened += 1;
      streams.add(socket);
    });
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        streams.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    get opened() {
      return opened;
    },
    get open() {
      return streams.size;
    },
    cut: () => {
      for (const stream of streams) stream.destroy();
    },
    idle: () => eventually(() => streams.size === 0),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
