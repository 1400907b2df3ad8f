import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { encodeOkResponse } from '../../../src/wire/envelope.js';
import { eventually } from '../eventually.js';

/** Handles an upgrade as a test wants. `accept` resolves when the client has requested a stream, or when the socket is open. */
export type Upgrade = (
  accept: (when?: 'requested' | 'open') => Promise<WebSocket>,
  socket: Duplex,
  req: IncomingMessage,
) => void;

export interface StreamFaultServer {
  /** base_url */
  readonly url: string;
  /** The received frames. */
  readonly frames: { data: Buffer; isBinary: boolean }[];
  readonly requests: IncomingMessage[];
  /** The number of open sockets. */
  readonly open: number;
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** A server of message streams with faults that the test sets. */
export async function startStreamFaultServer(upgrade: Upgrade): Promise<StreamFaultServer> {
  const frames: StreamFaultServer['frames'] = [];
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer();
  const upgrades = new WebSocketServer({ noServer: true, autoPong: false });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (req, socket, head) => {
    requests.push(req);
    const accept = (when = 'asked'): Promise<WebSocket> =>
      new Promise((resolve) => {
        upgrades.handleUpgrade(req, socket, head, (webSocket) => {
          webSocket.on('error', () => {});
          if (when === 'open') resolve(webSocket);
          // When the stream is requested.
          webSocket.on('message', (data, isBinary) => {
            frames.push({ data: data as Buffer, isBinary });
            resolve(webSocket);
          });
        });
      });
    upgrade(accept, socket, req);
    // Without these listeners a disconnect of the client is not noticed.
    socket.on('end', () => socket.end());
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    frames,
    requests,
    get open() {
      return sockets.size;
    },
    idle: () => eventually(() => sockets.size === 0),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Accepts, and then runs the code of the test. */
export const accepting =
  (act: (socket: WebSocket) => void): Upgrade =>
  async (accept) =>
    act(await accept());

/** Accepts, and then runs the code of the test with the TCP connection. */
export const withSocket =
  (act: (webSocket: WebSocket, socket: Duplex & { resetAndDestroy?(): void }) => void): Upgrade =>
  async (accept, socket) =>
    act(await accept(), socket);

/** Answers the upgrade with bytes. */
export const answering =
  (...lines: string[]): Upgrade =>
  (_accept, socket) => {
    socket.end(`${lines.join('\r\n')}\r\n\r\n`);
  };

/** An OK envelope around an inner message. */
export const frame = (...bytes: number[]): Uint8Array => encodeOkResponse(Uint8Array.from(bytes));
