import { constants, gzipSync } from 'node:zlib';
import type { SequencerErrorCode } from '../../../src/errors.js';
import { canary } from './fault-sequencer.js';
import {
  type GrpcAnswer,
  type GrpcBehaviour,
  grpcHeaders,
  grpcMessage,
  grpcOk,
  grpcStatus,
  respond,
} from './grpc-fault-server.js';

/** A way in which a gRPC server can fail. */
export interface GrpcFault extends GrpcBehaviour {
  /** The code of a call that meets it. */
  readonly code: SequencerErrorCode;
  /** What a stream makes of it where that is not the same: it goes on waiting, or ends as if all were well. */
  readonly stream?: 'waits' | 'ends';
  /** It leaves a connection behind that is dead without a sign of it, until a call over it times out. */
  readonly isDeaf?: boolean;
  /** The HTTP status, or the one that stands for the gRPC status. */
  readonly httpStatus?: number;
}

const page = `<!doctype html><title>${canary}</title>`;
const aMessage = grpcMessage(new Uint8Array(200));
const half = aMessage.subarray(0, 50);
const megabyte = Buffer.alloc(1024 * 1024);

/** Whether Node tells of frames that are none. Older ones say nothing, and the connection is dead. */
const hearsOfRubbish = Number(process.versions.node.split('.')[0]) >= 22;

const fault = (code: SequencerErrorCode, answer: GrpcAnswer, more: Partial<GrpcFault> = {}): GrpcFault => ({
  ...more,
  code,
  answer,
});
const atConnection = (code: SequencerErrorCode, connect: GrpcBehaviour['connect']): GrpcFault => ({
  code,
  ...(connect && { connect }),
});
const httpStatus = (status: number): GrpcFault =>
  fault(
    'sequencer_bad_status',
    ({ stream }) => {
      stream.respond({ ':status': status, 'content-type': 'text/html', location: '/' });
      stream.end(page);
    },
    { httpStatus: status },
  );
const reset = (code: SequencerErrorCode, rstCode: number, more: Partial<GrpcFault> = {}): GrpcFault =>
  fault(code, ({ stream }) => stream.close(rstCode), more);
const ownStatus = (code: SequencerErrorCode, status: string | number, more: Partial<GrpcFault> = {}): GrpcFault => ({
  ...grpcStatus(status, canary),
  ...more,
  code,
});
const messages = (parts: Uint8Array[], headers: Record<string, string> = {}, more: Partial<GrpcFault> = {}) =>
  fault('sequencer_bad_response', ({ stream }) => respond(stream, parts, { headers }), more);

const drip: GrpcAnswer = ({ stream }) => {
  stream.respond(grpcHeaders);
  stream.write(grpcMessage(new Uint8Array(0), { length: 10_000 }));
  const timer = setInterval(() => stream.write(Buffer.of(0x0a)), 20);
  stream.on('close', () => clearInterval(timer));
};

/** Ways to fail before anything could be sent: at the connection. */
export const grpcConnectionFaults: Readonly<Record<string, GrpcFault>> = {
  'a connection cut as soon as it stands': atConnection('sequencer_unreachable', (socket) => socket.destroy()),
  'a connection on which nothing is said': atConnection('sequencer_timeout', () => undefined),
  'something that is not HTTP/2': atConnection('sequencer_unreachable', (socket) => {
    socket.end('SSH-2.0-OpenSSH_9.6\r\n');
  }),
  'HTTP/1.1': atConnection('sequencer_unreachable', (socket) => {
    socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
  }),
};

/** Ways to fail when the call has come in. */
export const grpcAnswerFaults: Readonly<Record<string, GrpcFault>> = {
  'no answer': fault('sequencer_timeout', () => undefined, { stream: 'waits' }),
  'a byte every 20 ms': fault('sequencer_timeout', drip, { stream: 'waits' }),
  'headers, and then nothing': fault('sequencer_timeout', ({ stream }) => stream.respond(grpcHeaders), {
    stream: 'waits',
  }),
  'a connection cut before the headers': fault('sequencer_unreachable', ({ socket }) => socket.destroy()),
  'a connection cut in the headers': fault('sequencer_unreachable', ({ stream, socket }) => {
    // A HEADERS frame of 50 bytes, of which there comes one.
    socket.write(Buffer.from([0, 0, 50, 1, 4, 0, 0, 0, stream.id ?? 1, 0x88]), () => socket.destroy());
  }),
  'a connection cut in the body': fault('sequencer_unreachable', ({ stream, socket }) => {
    stream.respond(grpcHeaders);
    stream.write(half, () => setTimeout(() => socket.destroy(), 10));
  }),
  'a stream reset': reset('sequencer_unreachable', 8),
  'a stream refused': reset('sequencer_unreachable', 7),
  'a stream reset for an error within': reset('sequencer_bad_response', 2),
  'a stream reset for too many calls': reset('sequencer_bad_status', 11, { httpStatus: 429 }),
  'a connection ended with GOAWAY and an error': fault('sequencer_bad_response', ({ stream }) => {
    stream.session?.goaway(2, stream.id);
  }),
  'a connection ended with GOAWAY that leaves the call out': fault(
    'sequencer_timeout',
    ({ stream }) => stream.session?.goaway(0, 0),
    { stream: 'waits' },
  ),
  'frames that are none': fault(
    hearsOfRubbish ? 'sequencer_bad_response' : 'sequencer_timeout',
    ({ socket }) => void socket.write(Buffer.alloc(100, 0xff)),
    hearsOfRubbish ? {} : { stream: 'waits', isDeaf: true },
  ),
  'HTTP status 500': httpStatus(500),
  'HTTP status 503': httpStatus(503),
  'HTTP status 429': httpStatus(429),
  'HTTP status 404': httpStatus(404),
  'HTTP status 302, to itself': httpStatus(302),
  'HTTP status 503, without a body': fault(
    'sequencer_bad_status',
    ({ stream }) => stream.respond({ ':status': 503 }, { endStream: true }),
    { httpStatus: 503 },
  ),
  'a page instead of messages': fault('sequencer_bad_response', ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'text/html' });
    stream.end(page);
  }),
  'a text of two letters': fault('sequencer_bad_response', ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'text/plain' });
    stream.end('Hi');
  }),
  'a message of which the head is garbage': messages([Buffer.alloc(20, 0xff)]),
  'a message of 64 MB': fault('sequencer_bad_response', ({ stream }) => {
    stream.respond(grpcHeaders);
    stream.write(grpcMessage(megabyte, { length: 64 * 1024 * 1024 }));
  }),
  'a message just over the limit': messages([grpcMessage(new Uint8Array(64 * 1024 + 1))]),
  'half a message, and OK': messages([half], {}, { stream: 'ends' }),
  'OK without a message': messages([], {}, { stream: 'ends' }),
  'OK with two messages': messages([grpcMessage(Buffer.of()), grpcMessage(Buffer.of())], {}, { stream: 'ends' }),
  'a message compressed in a way that nobody knows': messages([grpcMessage(Buffer.of(1), { flag: 1 })], {
    'grpc-encoding': 'snappy',
  }),
  'a message compressed without a word': messages([grpcMessage(Buffer.of(1), { flag: 1 })]),
  'gzip that is none': messages([grpcMessage(Buffer.of(1), { flag: 1 })], { 'grpc-encoding': 'gzip' }),
  'a megabyte in a kilobyte of gzip': messages(
    [grpcMessage(gzipSync(megabyte, { level: constants.Z_BEST_COMPRESSION }), { flag: 1 })],
    { 'grpc-encoding': 'gzip' },
  ),
  'a message, and no trailers': fault('sequencer_bad_response', ({ stream }) => {
    stream.respond(grpcHeaders);
    stream.end(grpcMessage(Buffer.of()));
  }),
  'a message, and trailers without a status': fault('sequencer_bad_response', ({ stream }) =>
    respond(stream, [grpcMessage(Buffer.of())], { trailers: { 'x-status': '0' } }),
  ),
  'a status that is no number': ownStatus('sequencer_bad_response', 'fine'),
  'a status without a name': ownStatus('sequencer_bad_status', 99, { httpStatus: 500 }),
  'status INTERNAL': ownStatus('sequencer_bad_status', 13, { httpStatus: 500 }),
  'status UNKNOWN': ownStatus('sequencer_bad_status', 2, { httpStatus: 500 }),
  'status DATA_LOSS': ownStatus('sequencer_bad_status', 15, { httpStatus: 500 }),
  'status RESOURCE_EXHAUSTED': ownStatus('sequencer_bad_status', 8, { httpStatus: 429 }),
  'status UNAVAILABLE': ownStatus('sequencer_unreachable', 14),
  'status CANCELLED': ownStatus('sequencer_unreachable', 1),
  'status DEADLINE_EXCEEDED': ownStatus('sequencer_timeout', 4),
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
    }).map(([name, status]) => [`status ${name}`, ownStatus('sequencer_error', status)]),
  ),
};

/** A call that went well in every way but that its message is none. */
export const grpcGarbage: GrpcFault = { ...grpcOk(Buffer.from('ffffffff', 'hex')), code: 'sequencer_bad_response' };
