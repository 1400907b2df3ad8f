import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { SequencerError } from '../../../src/errors.js';
import { createHttpTransport } from '../../../src/sequencer/http-transport.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { encodeErrorResponse, encodeOkResponse } from '../../../src/wire/envelope.js';
import { canary } from './fault-sequencer.js';
import { phases } from './fault-way.js';
import { answering, startStreamFaultServer, type Upgrade } from './stream-fault-server.js';
import {
  type Responses,
  relay,
  rewriting,
  type StreamFaultTraits,
  type StreamLine,
  type StreamUpstream,
  type StreamWay,
  type Struck,
  sayings,
} from './stream-way.js';

interface WebSocketFault extends StreamFaultTraits {
  /** Instead of the handshake. */
  readonly handshake?: Upgrade;
  /** With the socket, when its time has come. */
  readonly act?: (webSocket: WebSocket, socket: Duplex & Partial<Resettable>) => void;
  /** With what is delivered. */
  readonly rewrite?: (responses: Responses) => Responses;
}

interface Resettable {
  resetAndDestroy(): void;
}

const atHandshake = (handshake: Upgrade, ends = true): WebSocketFault => ({
  phases: ['before send'],
  ends,
  hurtsCalls: false,
  handshake,
});
const acting = (act: NonNullable<WebSocketFault['act']>, ends = true): WebSocketFault => ({
  phases,
  ends,
  hurtsCalls: false,
  act,
});
const sending = (data: Uint8Array | string): WebSocketFault => acting((webSocket) => webSocket.send(data));
const raw = (bytes: readonly number[]): WebSocketFault =>
  acting((_webSocket, socket) => socket.write(Buffer.from(bytes)));
const closing = (code: number): WebSocketFault => acting((webSocket) => webSocket.close(code, canary));

/** Takes in what comes and answers nothing, no goodbye either; what it says first is up to the fault. */
function goDeaf(_webSocket: WebSocket, socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
}

const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
const ok = encodeOkResponse(new Uint8Array(20));

/** Every way in which the stream over a WebSocket can fail. */
const faults: Readonly<Record<string, WebSocketFault>> = {
  'a cut instead of the handshake': atHandshake((_accept, socket) => socket.destroy()),
  'HTTP 503 instead of the handshake': atHandshake(answering('HTTP/1.1 503 Busy', 'Content-Length: 0')),
  'HTTP 401 instead of the handshake': atHandshake(answering('HTTP/1.1 401 No', 'Content-Length: 0')),
  'a redirect instead of the handshake': atHandshake(
    answering('HTTP/1.1 302 Found', 'Location: /', 'Content-Length: 0'),
  ),
  'a page instead of the handshake': atHandshake(answering('HTTP/1.1 200 OK', 'Content-Type: text/html', '', canary)),
  'a handshake of something else': atHandshake(answering('SSH-2.0-OpenSSH_9.6')),
  'a handshake with the wrong key': atHandshake(answering(...head, 'Sec-WebSocket-Accept: AAAA')),
  'half a handshake': atHandshake((_accept, socket) => void socket.write('HTTP/1.1 101 Swi'), false),
  'no handshake': atHandshake(() => undefined, false),
  'a cut': acting((_webSocket, socket) => socket.destroy()),
  'a reset': acting((_webSocket, socket) => socket.resetAndDestroy?.()),
  'an end without a goodbye': acting((_webSocket, socket) => socket.end()),
  'close 1000 too early': closing(1000),
  'close 1001': closing(1001),
  'close 1008': closing(1008),
  'close 1011': closing(1011),
  'close 1013': closing(1013),
  silence: acting(goDeaf, false),
  'half a frame, and then silence': acting((webSocket, socket) => {
    goDeaf(webSocket, socket);
    socket.write(Buffer.from([0x82, 0x50, 0x0a]));
  }, false),
  'a text frame': sending('submitted'),
  'an empty frame': acting((webSocket) => webSocket.send(new Uint8Array()), false),
  garbage: sending(Buffer.alloc(40, 0xff)),
  'garbage in an OK envelope': sending(encodeOkResponse(Buffer.alloc(9, 0xff))),
  'a truncated envelope': sending(ok.subarray(0, -1)),
  'an unknown result': sending(Uint8Array.of(0x08, 0x07)),
  'an ERROR envelope': sending(encodeErrorResponse(canary)),
  'a frame just over the limit': sending(new Uint8Array(64 * 1024 + 1)),
  'a frame of 64 MB': raw([0x82, 0x7f, 0, 0, 0, 0, 4, 0, 0, 0, 0x0a, 0x0a]),
  'bytes that are no frames': raw(new Array<number>(40).fill(0xff)),
  'a masked frame': raw([0x82, 0x81, 1, 2, 3, 4, 5]),
  'a frame that continues nothing': raw([0x80, 0x01, 0x0a]),
  'a goodbye that cannot be read': raw([0x88, 0x01, 0x00]),
  ...Object.fromEntries(
    Object.entries(sayings).map(([name, responses]) => [
      name,
      acting((webSocket) => {
        for (const response of responses) webSocket.send(encodeOkResponse(response));
      }, false),
    ]),
  ),
  ...rewriting,
};

/** The WebSocket of the proxy (protocol section 5), with a faulty one between us and the real one. */
export const webSocketStreamWay: StreamWay = { name: 'a WebSocket through the proxy', faults, openLine };

async function openLine(upstream: StreamUpstream): Promise<StreamLine> {
  let now: Struck<WebSocketFault> | undefined;
  let struck = 0;
  const upgrade: Upgrade = (accept, socket, req) => {
    const at = now;
    if (at?.fault.handshake) {
      struck += 1;
      return at.fault.handshake(accept, socket, req);
    }
    const strike = (webSocket: WebSocket): void => {
      struck += 1;
      at?.fault.act?.(webSocket, socket);
    };
    if (at?.fault.act && at.phase === 'before send') return void accept('open').then(strike);
    accept()
      .then((webSocket) => serve(upstream, webSocket, server.frames.at(-1)?.data, at, strike))
      .catch(() => socket.destroy());
  };
  const server = await startStreamFaultServer(upgrade);
  const streams = createHttpTransport({ url: server.url, timeoutMs: 1_000 });
  const calls = createHttpTransport({ url: upstream.url, timeoutMs: 1_000 });
  return {
    transport: {
      ...(streams.openStream && { openStream: streams.openStream.bind(streams) }),
      call: async (...args) => {
        if (now?.isDown) throw new SequencerError('sequencer_bad_status', 'It is down.', { httpStatus: 503 });
        return calls.call(...args);
      },
      close: async () => void (await Promise.all([streams.close(), calls.close()])),
    },
    get struck() {
      return struck;
    },
    get openStreams() {
      return server.open;
    },
    get openSockets() {
      return server.open;
    },
    strike: (fault, phase, isDown) => {
      now = { fault: faults[fault] as WebSocketFault, phase, isDown };
    },
    lift: () => {
      now = undefined;
    },
    close: () => server.close(),
  };
}

async function serve(
  upstream: StreamUpstream,
  webSocket: WebSocket,
  request: Buffer = Buffer.of(),
  at: Struck<WebSocketFault> | undefined,
  strike: (webSocket: WebSocket) => void,
): Promise<void> {
  const leaving = new AbortController();
  webSocket.on('close', () => leaving.abort());
  const isOver = await relay({
    upstream,
    body: new Uint8Array(decode(v1.Request, request).body),
    at,
    strike: () => strike(webSocket),
    send: (response) => webSocket.send(encodeOkResponse(response)),
    signal: leaving.signal,
  });
  if (isOver) webSocket.close(1000);
}
