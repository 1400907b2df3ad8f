import { constants, gzipSync } from 'node:zlib';
import type { SequencerErrorCode } from '../../../src/errors.js';
import { encodeErrorResponse, encodeOkResponse } from '../../../src/wire/envelope.js';
import { type Answer, bytes, canary, ok } from './fault-sequencer.js';
import {
  beginStream,
  type GrpcAnswer,
  type GrpcBehaviour,
  grpcHeaders,
  grpcMessage,
  grpcOk,
  grpcStatus,
  respond,
} from './grpc-fault-server.js';
import { accepting, answering, frame, type Upgrade, withSocket } from './stream-fault-server.js';

// The table of all faults of a sequencer: the behavior of each transport, and the error of the caller. A row without a column
// does not exist on that transport.

/** A fault of a sequencer, or of a proxy or network in front of it. */
export interface Fault {
  /** The code of the error. */
  readonly code: SequencerErrorCode;
  /** Whether the same request may succeed when it is sent again. */
  readonly isTransient: boolean;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** A call through the HTTP/1.1 proxy. */
  readonly proxy?: Answer;
  /** A call or a stream over gRPC. */
  readonly grpc?: GrpcBehaviour;
  /** The behavior of a gRPC stream that does not fail with the code: it waits, or ends normally. */
  readonly grpcStream?: 'waits' | 'ends';
  /** The gRPC connection is dead afterwards. A stream cannot notice that; a call does by its timeout. */
  readonly isDeaf?: boolean;
  /** A stream over a WebSocket. */
  readonly webSocket?: Upgrade;
}

type Columns = Omit<Fault, 'code' | 'isTransient'>;
const unreachable = (columns: Columns): Fault => ({ code: 'sequencer_unreachable', isTransient: true, ...columns });
const timeout = (columns: Columns): Fault => ({ code: 'sequencer_timeout', isTransient: true, ...columns });
const unreadable = (columns: Columns): Fault => ({ code: 'sequencer_bad_response', isTransient: false, ...columns });
const refused = (columns: Columns): Fault => ({ code: 'sequencer_error', isTransient: false, ...columns });
const badStatus = (httpStatus: number, isTransient: boolean, columns: Columns): Fault => ({
  code: 'sequencer_bad_status',
  isTransient,
  httpStatus,
  ...columns,
});

const octets = { 'content-type': 'application/octet-stream' };
const page = `<!doctype html><title>${canary}</title>`;
const envelope = encodeOkResponse(new Uint8Array(200));
const message = grpcMessage(new Uint8Array(200));
const noMessage = grpcMessage(new Uint8Array());
const megabyte = Buffer.alloc(1024 * 1024, 0x22);
const tooLarge = new Uint8Array(64 * 1024 + 1);
const noise = Buffer.alloc(100, 0xff);

/** Over HTTP/1.1: a status and a text of the service. */
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_call, res, req) =>
    void res.writeHead(code, { 'content-type': 'text/plain', location: req.url ?? '/', ...headers }).end(canary);

/** Over HTTP/1.1: the connection is cut after these bytes of the answer. */
const cutAfter =
  (part: Uint8Array, headers: Record<string, number> = {}): Answer =>
  (_call, res) => {
    res.writeHead(200, headers);
    res.write(part, () => res.destroy());
  };

/** Over HTTP/1.1: an endless response, up to 64 MB. */
const flood: Answer = (_call, res) => {
  res.writeHead(200, { ...octets, 'content-length': 64 * megabyte.length });
  let left = 64;
  const more = (): void => {
    while (left > 0 && !res.destroyed) {
      left -= 1;
      if (!res.write(megabyte)) return;
    }
    if (left === 0) res.end();
  };
  res.on('drain', more);
  more();
};

/** Writes a byte every 20 ms until the other side closes. */
function drip(target: { write(bytes: Uint8Array): unknown; on(event: 'close', closed: () => void): unknown }): void {
  const timer = setInterval(() => target.write(Buffer.from('.')), 20);
  target.on('close', () => clearInterval(timer));
}

const grpc = (answer: GrpcAnswer): GrpcBehaviour => ({ answer });
const grpcHttpStatus = (code: number): GrpcBehaviour =>
  grpc(({ stream }) => {
    stream.respond({ ':status': code, 'content-type': 'text/html', location: '/' });
    stream.end(page);
  });
const grpcMessages = (parts: Uint8Array[], headers: Record<string, string> = {}): GrpcBehaviour =>
  grpc(({ stream }) => respond(stream, parts, { headers }));
const compressed = (part: Uint8Array, encoding?: string): GrpcBehaviour =>
  grpcMessages([grpcMessage(part, { flag: 1 })], encoding ? { 'grpc-encoding': encoding } : {});
const grpcReset = (rstCode: number): GrpcBehaviour => grpc(({ stream }) => stream.close(rstCode));

const sendFrame = (data: Uint8Array | string): Upgrade => accepting((webSocket) => webSocket.send(data));
const closeWith = (code?: number): Upgrade =>
  accepting((webSocket) => webSocket.close(code, code ? canary : undefined));
const rawBytes = (...octetsSent: number[]): Upgrade =>
  withSocket((_webSocket, socket) => socket.write(Buffer.from(octetsSent)));
const switching = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];

/** Node 22 and later report frames that cannot be parsed. Before, the connection is dead without an event. */
const reportsNoise = Number(process.versions.node.split('.')[0]) >= 22;

const connectionFaults: Record<string, Fault> = {
  'a connection closed without an answer': unreachable({
    proxy: (_call, _res, req) => void req.socket.end(),
    webSocket: withSocket((_webSocket, socket) => socket.end()),
  }),
  'a connection cut before the answer': unreachable({
    proxy: (_call, _res, req) => void req.socket.destroy(),
    grpc: grpc(({ socket }) => socket.destroy()),
    webSocket: accepting((webSocket) => webSocket.terminate()),
  }),
  'a connection reset': unreachable({
    proxy: (_call, _res, req) => void req.socket.resetAndDestroy(),
    grpc: grpc(({ socket }) => socket.resetAndDestroy()),
    webSocket: withSocket((_webSocket, socket) => socket.resetAndDestroy?.()),
  }),
  'a connection cut in the headers': unreachable({
    proxy: (_call, _res, { socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.destroy()),
    grpc: grpc(({ stream, socket }) => {
      // A HEADERS frame of 50 bytes, of which one is sent.
      socket.write(Buffer.from([0, 0, 50, 1, 4, 0, 0, 0, stream.id ?? 1, 0x88]), () => socket.destroy());
    }),
  }),
  'a connection cut in the body': unreachable({
    proxy: cutAfter(envelope.subarray(0, 50), { 'content-length': envelope.length }),
    grpc: grpc(({ stream, socket }) => {
      beginStream(stream);
      stream.write(message.subarray(0, 50), () => setImmediate(() => socket.destroy()));
    }),
  }),
  'a connection cut in a chunked body': unreachable({ proxy: cutAfter(envelope.subarray(0, 50)) }),
  'a connection cut as soon as it is open': unreachable({
    grpc: { connect: (socket) => void socket.destroy() },
    webSocket: (_accept, socket) => void socket.destroy(),
  }),
  'a connection without a word': timeout({
    grpc: { connect: (socket) => void socket.resume() },
    webSocket: () => undefined,
  }),
  'another protocol': unreadable({
    proxy: (_call, _res, req) => void req.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    webSocket: answering('SSH-2.0-OpenSSH_9.6'),
  }),
  'another protocol than HTTP/2': unreachable({
    grpc: { connect: (socket) => void socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n') },
  }),
  'HTTP/1.1 in place of HTTP/2': unreachable({
    grpc: { connect: (socket) => void socket.resume().end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n') },
  }),
  'a stream canceled': unreachable({ grpc: grpcReset(8) }),
  'a stream refused': unreachable({ grpc: grpcReset(7) }),
  'a stream reset for an internal error': unreadable({ grpc: grpcReset(2) }),
  'a stream reset for too many calls': badStatus(429, true, { grpc: grpcReset(11) }),
  'GOAWAY with an error': unreadable({ grpc: grpc(({ stream }) => stream.session?.goaway(2, stream.id)) }),
  'GOAWAY that excludes the call': timeout({
    grpc: grpc(({ stream }) => stream.session?.goaway(0, 0)),
    grpcStream: 'waits',
  }),
  'bytes that are no frames': {
    ...(reportsNoise ? unreadable({}) : timeout({ grpcStream: 'waits', isDeaf: true })),
    grpc: grpc(({ socket }) => void socket.write(noise)),
  },
};

const slowFaults: Record<string, Fault> = {
  'no answer': timeout({ proxy: () => undefined, grpc: grpc(() => undefined), grpcStream: 'waits' }),
  'headers without an answer': timeout({
    proxy: (_call, res) => void res.writeHead(200, octets).flushHeaders(),
    grpc: grpc(({ stream }) => beginStream(stream)),
    grpcStream: 'waits',
  }),
  'a byte every 20 ms': timeout({
    proxy: (_call, res) => drip(res.writeHead(200, { ...octets, 'content-length': 10_000 })),
    grpc: grpc(({ stream }) => {
      beginStream(stream);
      stream.write(grpcMessage(new Uint8Array(0), { length: 10_000 }));
      drip(stream);
    }),
    grpcStream: 'waits',
    webSocket: (_accept, socket) => {
      socket.write('HTTP/1.1 101 Switching');
      drip(socket);
    },
  }),
  'an error page without an end': timeout({ proxy: (_call, res) => void res.writeHead(500).write(page) }),
  'half a handshake': timeout({ webSocket: (_accept, socket) => void socket.write('HTTP/1.1 101 Swi') }),
};

const statusFaults: Record<string, Fault> = {
  'HTTP status 500': badStatus(500, false, {
    proxy: status(500),
    grpc: grpcHttpStatus(500),
    webSocket: answering('HTTP/1.1 500 Oops'),
  }),
  'HTTP status 503': badStatus(503, true, {
    proxy: status(503),
    grpc: grpcHttpStatus(503),
    webSocket: answering('HTTP/1.1 503 Busy', 'Content-Length: 0'),
  }),
  'HTTP status 503 with Retry-After: 0': badStatus(503, true, {
    proxy: status(503, { 'retry-after': '0' }),
    retryAfterMs: 0,
  }),
  'HTTP status 503 with Retry-After: 60': badStatus(503, false, {
    proxy: status(503, { 'retry-after': '60' }),
    retryAfterMs: 60_000,
  }),
  'HTTP status 503 without a body': badStatus(503, true, {
    proxy: (_call, res) => void res.writeHead(503).end(),
    grpc: grpc(({ stream }) => stream.respond({ ':status': 503 }, { endStream: true })),
  }),
  'HTTP status 503 with a page without an end': badStatus(503, true, {
    webSocket: (_accept, socket) => void socket.write(`HTTP/1.1 503 No\r\n\r\n${page}`),
  }),
  'HTTP status 502': badStatus(502, true, { proxy: status(502) }),
  'HTTP status 504': badStatus(504, true, { proxy: status(504) }),
  'HTTP status 429': badStatus(429, true, { proxy: status(429), grpc: grpcHttpStatus(429) }),
  'HTTP status 401': badStatus(401, false, { proxy: status(401), webSocket: answering('HTTP/1.1 401 No') }),
  'HTTP status 404': badStatus(404, false, {
    proxy: status(404),
    grpc: grpcHttpStatus(404),
    webSocket: answering('HTTP/1.1 404 Not Found'),
  }),
  'HTTP status 302, to itself': badStatus(302, false, {
    proxy: status(302),
    grpc: grpcHttpStatus(302),
    webSocket: answering('HTTP/1.1 302 Found', 'Location: /v1/api'),
  }),
  'HTTP status 307, to itself': badStatus(307, false, { proxy: status(307) }),
  'HTTP status 200 in place of a handshake': badStatus(200, false, {
    webSocket: answering('HTTP/1.1 200 OK', 'Content-Type: text/html', '', page),
  }),
  'gRPC status 99, which has no name': badStatus(500, false, { grpc: grpcStatus(99, canary) }),
  'gRPC status INTERNAL': badStatus(500, false, { grpc: grpcStatus(13, canary) }),
  'gRPC status UNKNOWN': badStatus(500, false, { grpc: grpcStatus(2, canary) }),
  'gRPC status DATA_LOSS': badStatus(500, false, { grpc: grpcStatus(15, canary) }),
  'gRPC status RESOURCE_EXHAUSTED': badStatus(429, true, { grpc: grpcStatus(8, canary) }),
  'gRPC status UNAVAILABLE': unreachable({ grpc: grpcStatus(14, canary) }),
  'gRPC status CANCELLED': unreachable({ grpc: grpcStatus(1, canary) }),
  'gRPC status DEADLINE_EXCEEDED': timeout({ grpc: grpcStatus(4, canary) }),
  'gRPC status that is not a number': unreadable({ grpc: grpcStatus('fine', canary) }),
  'trailers without a gRPC status': unreadable({
    grpc: grpc(({ stream }) => respond(stream, [noMessage], { trailers: { 'x-status': '0' } })),
  }),
  'a message without trailers': unreadable({
    grpc: grpc(({ stream }) => {
      stream.respond(grpcHeaders);
      stream.end(noMessage);
    }),
  }),
  ...Object.fromEntries(
    [1001, 1008, 1011, 1013].map((code) => [`close ${code}`, unreachable({ webSocket: closeWith(code) })]),
  ),
  'close without a code': unreachable({ webSocket: closeWith() }),
};

const refusals: Record<string, Fault> = {
  'an ERROR envelope': refused({
    proxy: bytes(encodeErrorResponse(canary)),
    webSocket: sendFrame(encodeErrorResponse(canary)),
  }),
  ...Object.fromEntries(
    Object.entries({
      INVALID_ARGUMENT: 3,
      NOT_FOUND: 5,
      ALREADY_EXISTS: 6,
      PERMISSION_DENIED: 7,
      FAILED_PRECONDITION: 9,
      ABORTED: 10,
      OUT_OF_RANGE: 11,
      UNIMPLEMENTED: 12,
      UNAUTHENTICATED: 16,
    }).map(([name, code]) => [`gRPC status ${name}`, refused({ grpc: grpcStatus(code, canary) })]),
  ),
};

const unreadableAnswers: Record<string, Fault> = {
  'random bytes': unreadable({ proxy: bytes(noise), grpc: grpcMessages([noise]), webSocket: sendFrame(noise) }),
  // An empty response of the type of an envelope, or without a type, is a valid one.
  'no bytes': unreadable({
    proxy: (_call, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end(),
    grpc: grpcMessages([]),
    grpcStream: 'ends',
  }),
  'a text of two letters': unreadable({
    proxy: bytes(Buffer.from('OK')),
    grpc: grpc(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'text/plain' });
      stream.end('Hi');
    }),
    webSocket: sendFrame('Hi'),
  }),
  'a page of HTML': unreadable({
    proxy: bytes(Buffer.from(page)),
    grpc: grpc(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end(page);
    }),
  }),
  'an unknown result': unreadable({
    proxy: bytes(Uint8Array.of(0x08, 0x07)),
    webSocket: sendFrame(Uint8Array.of(0x08, 0x07)),
  }),
  'an OK with an error text': unreadable({
    proxy: bytes(Buffer.concat([Buffer.of(0x08, 0x00, 0x1a, canary.length), Buffer.from(canary)])),
  }),
  'half an envelope': unreadable({
    proxy: bytes(envelope.subarray(0, 50)),
    grpc: grpcMessages([message.subarray(0, 50)]),
    grpcStream: 'ends',
  }),
  'an envelope without its last byte': unreadable({
    proxy: bytes(envelope.subarray(0, -1)),
    webSocket: sendFrame(envelope.subarray(0, -1)),
  }),
  'garbage in an OK envelope': unreadable({
    proxy: ok(Buffer.from('ffffffff', 'hex')),
    grpc: grpcOk(Buffer.from('ffffffff', 'hex')),
    grpcStream: 'ends',
  }),
  'two messages': unreadable({ grpc: grpcMessages([noMessage, noMessage]), grpcStream: 'ends' }),
  'a compressed envelope': unreadable({
    proxy: (_call, res) => void res.writeHead(200, { ...octets, 'content-encoding': 'gzip' }).end(gzipSync(envelope)),
  }),
  'compression without an encoding': unreadable({ grpc: compressed(Buffer.of(1)) }),
  'compression with an unknown encoding': unreadable({ grpc: compressed(Buffer.of(1), 'snappy') }),
  'gzip that cannot be read': unreadable({ grpc: compressed(Buffer.of(1), 'gzip') }),
  'a megabyte in a kilobyte of gzip': unreadable({
    grpc: compressed(gzipSync(megabyte, { level: constants.Z_BEST_COMPRESSION }), 'gzip'),
  }),
  'a byte over the limit': unreadable({
    grpc: grpcMessages([grpcMessage(tooLarge)]),
    webSocket: sendFrame(frame(...tooLarge.subarray(4))),
  }),
  'a megabyte': unreadable({ proxy: bytes(megabyte) }),
  'a megabyte in chunks, without an end': unreadable({
    proxy: (_call, res) => void res.writeHead(200).write(megabyte),
    webSocket: accepting((webSocket) => {
      webSocket.send(megabyte, { binary: true, fin: false });
    }),
  }),
  '64 MB': unreadable({
    proxy: flood,
    grpc: grpc(({ stream }) => {
      beginStream(stream);
      stream.write(grpcMessage(megabyte, { length: 64 * 1024 * 1024 }));
    }),
    webSocket: rawBytes(0x82, 0x7f, 0, 0, 0, 0, 4, 0, 0, 0, 0x0a, 0x0a),
  }),
  'a handshake with another key': unreadable({ webSocket: answering(...switching, 'Sec-WebSocket-Accept: AAAA') }),
  'a text frame': unreadable({
    webSocket: accepting((webSocket) => webSocket.send(frame(1), { binary: false })),
  }),
  'bytes that are no WebSocket frames': unreadable({ webSocket: rawBytes(...noise) }),
  'a masked frame': unreadable({ webSocket: rawBytes(0x82, 0x81, 1, 2, 3, 4, 5) }),
  'a frame that continues nothing': unreadable({ webSocket: rawBytes(0x80, 0x01, 0x0a) }),
  'a close frame that cannot be read': unreadable({ webSocket: rawBytes(0x88, 0x01, 0x00) }),
};

export const faults: Readonly<Record<string, Fault>> = {
  ...connectionFaults,
  ...slowFaults,
  ...statusFaults,
  ...refusals,
  ...unreadableAnswers,
};

/** The rows of the table that exist on a transport, for `it.each`. */
export const faultsOf = <Name extends 'proxy' | 'grpc' | 'webSocket'>(
  column: Name,
): [string, Fault & Required<Pick<Fault, Name>>][] =>
  Object.entries(faults).flatMap(([name, fault]) =>
    fault[column] ? [[name, fault as Fault & Required<Pick<Fault, Name>>]] : [],
  );
