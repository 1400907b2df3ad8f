import net from 'node:net';
import { jest } from '@jest/globals';
import { WebSocket } from 'ws';
import { createHttpTransport } from '../../../src/sequencer/http/http-transport.js';
import { WebSocketStreams } from '../../../src/sequencer/http/websocket-streams.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import { PieceSocket } from '../../support/network/piece-socket.js';
import { webSocketHandshake } from '../../support/network/websocket-handshake.js';
import {
  accepting,
  frame,
  type StreamFaultServer,
  startStreamFaultServer,
  type Upgrade,
} from '../../support/sequencers/stream-fault-server.js';

/** A timeout that no test reaches. */
const ample = 60_000;
const body = Uint8Array.of(1, 2, 3);

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(upgrade: Upgrade): Promise<StreamFaultServer> {
  const server = await startStreamFaultServer(upgrade);
  closers.push(() => server.close());
  return server;
}

function createTransport(url: string, timeoutMs = ample): Transport & Required<Pick<Transport, 'openStream'>> {
  const transport = createHttpTransport({ url, timeoutMs });
  closers.push(() => transport.close());
  if (!transport.openStream) throw new Error('There are no streams.');
  return { ...transport, openStream: transport.openStream };
}

/** The test controls timers. Sockets work as usual. */
const useFakeTimers = (): void =>
  void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask'] });
afterEach(() => void jest.useRealTimers());

const open = (url: string, signal?: AbortSignal): AsyncIterator<Uint8Array> =>
  createTransport(url).openStream(operations.openMessageStream, body, { signal })[Symbol.asyncIterator]();

async function readAll(reader: AsyncIterator<Uint8Array>): Promise<{ read: number[][]; error: unknown }> {
  const read: number[][] = [];
  try {
    for (let step = await reader.next(); !step.done; step = await reader.next()) read.push([...step.value]);
    return { read, error: undefined };
  } catch (error) {
    return { read, error };
  }
}

describe('a stream over WebSocket (protocol 5)', () => {
  test.each([
    ['', '/v1/api'],
    ['/proxy/', '/proxy/v1/api'],
  ])('base_url with the path "%s" is opened at %s, by one binary frame, with no extension', async (path, expected) => {
    const server = await serve(accepting((socket) => socket.close(1000)));
    await readAll(open(server.url + path));
    const [request] = server.requests;
    expect(request?.url).toBe(expected);
    expect(request?.headers).not.toHaveProperty('sec-websocket-extensions');
    expect(request?.headers).not.toHaveProperty('origin');
    // Request { version "", service, method, body }, written out.
    const envelope = Buffer.concat([
      Buffer.from('0a00', 'hex'),
      Buffer.from('\x12\x09Messaging\x1a\x11openMessageStream', 'latin1'),
      Buffer.from('2203010203', 'hex'),
    ]);
    expect(server.frames).toEqual([{ data: envelope, isBinary: true }]);
  });

  test('has a timeout for the handshake only: an open stream may be silent for longer', async () => {
    useFakeTimers();
    const sockets: WebSocket[] = [];
    const server = await serve(accepting((socket) => void sockets.push(socket)));
    const streams = createTransport(server.url, 1_000).openStream(operations.openMessageStream, body);
    const reading = readAll(streams[Symbol.asyncIterator]());
    await eventually(() => sockets.length === 1);
    await jest.advanceTimersByTimeAsync(10_000);
    sockets[0]?.send(frame(7));
    sockets[0]?.close(1000);
    expect(await reading).toEqual({ read: [[7]], error: undefined });
  });

  test('is terminated shortly after the reader left, if the service sends no closing frame', async () => {
    const server = await serve(async (accept, socket) => {
      (await accept()).send(frame(1));
      // From now on incoming data is discarded unread.
      socket.removeAllListeners('data');
    });
    const reader = open(server.url);
    await reader.next();
    await reader.return?.();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    await server.idle();
  });

  test('ends during the handshake when the reader leaves or aborts', async () => {
    const server = await serve(() => {});
    const abort = new AbortController();
    const [left, aborted] = [open(server.url), open(server.url, abort.signal)];
    const [next, other] = [left.next(), aborted.next()];
    await eventually(() => server.requests.length === 2);
    await left.return?.();
    abort.abort('enough');
    expect(await next).toEqual({ done: true, value: undefined });
    await expect(other).rejects.toBe('enough');
    await server.idle();
  });
});

describe('a frame of the largest size', () => {
  const envelope = frame(...new Uint8Array(65_000).fill(7));
  const bytes = Buffer.concat([Buffer.of(0x82, 126, envelope.length >> 8, envelope.length & 0xff), envelope]);

  /** Reads a stream that sends the frame in pieces of this size. Returns the lengths of its messages, and its error. */
  async function readInPieces(pieceBytes: number): Promise<{ lengths: number[]; error: unknown }> {
    const socket = new PieceSocket(pieceBytes);
    jest.spyOn(net, 'connect').mockReturnValue(socket as unknown as net.Socket);
    const reading = readAll(open('http://127.0.0.1'));
    await eventually(() => socket.sent.includes('\r\n\r\n'));
    socket.receive(webSocketHandshake(socket.sent));
    socket.receive(bytes);
    socket.receive(Buffer.from('880203e8', 'hex'));
    socket.push(null);
    const { read, error } = await reading;
    socket.destroy();
    return { lengths: read.map(({ length }) => length), error };
  }

  test('is received in a few thousand pieces', async () => {
    expect(await readInPieces(17)).toEqual({ lengths: [65_000], error: undefined });
  });

  test('in 65,000 pieces ends the stream, because joining so many would block the process for seconds', async () => {
    expect(await readInPieces(1)).toMatchObject({ lengths: [], error: { code: 'sequencer_bad_response' } });
  });
});

describe('a service that stopped responding', () => {
  const pingMs = 1_000;
  beforeEach(useFakeTimers);

  function streamTo(server: StreamFaultServer): AsyncIterator<Uint8Array> {
    const address = server.url.replace('http', 'ws');
    const streams = new WebSocketStreams({ address, timeoutMs: ample, pingMs });
    closers.push(() => streams.close());
    return streams.open(operations.openMessageStream, body)[Symbol.asyncIterator]();
  }

  test('ends the stream when it does not answer a ping before the next one', async () => {
    let pings = 0;
    const countPings = accepting((socket) => {
      socket.on('ping', () => {
        pings += 1;
      });
      socket.send(frame(1));
    });
    const reader = streamTo(await serve(countPings));
    await reader.next();
    await jest.advanceTimersByTimeAsync(pingMs);
    await eventually(() => pings === 1);
    const rest = readAll(reader);
    await jest.advanceTimersByTimeAsync(pingMs);
    expect(await rest).toMatchObject({ read: [], error: { code: 'sequencer_unreachable' } });
    expect(pings).toBe(1);
  });

  test('keeps the stream while its messages wait for the reader', async () => {
    const paused = jest.spyOn(WebSocket.prototype, 'pause');
    const server = await serve(
      accepting((socket) => {
        for (let message = 0; message < 300; message += 1) socket.send(frame(1));
      }),
    );
    const reader = streamTo(server);
    await reader.next();
    await eventually(() => paused.mock.calls.length === 1);
    await jest.advanceTimersByTimeAsync(4 * pingMs);
    for (let message = 1; message < 300; message += 1) expect((await reader.next()).done).toBe(false);
    await reader.return?.();
  });
});

describe('a slow reader', () => {
  test('pauses the socket, so memory is bounded if the service never stops sending', async () => {
    let sent = 0;
    const server = await serve(
      accepting(async (socket) => {
        const envelope = frame(...new Uint8Array(8_000));
        // Waits until each is written, as far as the other side reads.
        for (; socket.readyState === socket.OPEN; sent += 1) {
          await new Promise((resolve) => socket.send(envelope, resolve));
        }
      }),
    );
    const reader = open(server.url);
    await reader.next();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // 64 in the queue, and the buffers of both kernels.
    expect(sent).toBeLessThan(5_000);
    for (let message = 0; message < before; message += 1) await reader.next();
    await eventually(() => sent > before);
    await reader.return?.();
    await server.idle();
  });

  test('gets an error after the buffered messages if the service sends on although paused', async () => {
    const server = await serve(
      accepting((socket) => {
        // Frames of five bytes: one chunk of the socket has more of them than the queue holds.
        const burst = Buffer.concat(new Array<Buffer>(40_000).fill(Buffer.from('8203120107', 'hex')));
        (socket as unknown as { _socket: NodeJS.WritableStream })._socket.write(burst);
      }),
    );
    const reader = open(server.url);
    await eventually(() => server.frames.length === 1);
    // The side of the reader closes it.
    await server.idle();
    const { read, error } = await readAll(reader);
    expect(read).toHaveLength(1_024);
    expect(error).toMatchObject({ code: 'sequencer_bad_response' });
  });
});
