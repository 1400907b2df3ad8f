import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { createGrpcTransport } from '../../../src/sequencer/grpc-transport.js';
import { type Operation, operations } from '../../../src/wire/envelope.js';
import { grpcPath } from '../../../src/wire/grpc-path.js';
import { canary } from './fault-sequencer.js';
import { phases } from './fault-way.js';
import {
  type GrpcAnswering,
  type GrpcBehaviour,
  grpcHeaders,
  grpcMessage,
  respond,
  startGrpcFaultServer,
} from './grpc-fault-server.js';
import { grpcConnectionFaults } from './grpc-faults.js';
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

interface GrpcStreamFault extends StreamFaultTraits {
  /** Instead of HTTP/2. */
  readonly connect?: (socket: Socket) => void;
  /** With the stream, when its time has come. */
  readonly act?: (stream: ServerHttp2Stream, socket: Socket) => void;
  /** With what is delivered. */
  readonly rewrite?: (responses: Responses) => Responses;
}

const acting = (
  act: NonNullable<GrpcStreamFault['act']>,
  { ends = true, hurtsCalls = false }: Partial<StreamFaultTraits> = {},
): GrpcStreamFault => ({ phases, ends, hurtsCalls, act });
const silently = { ends: false };
/** What hurts the connection hurts all that goes over it. */
const withCalls = { hurtsCalls: true };
const saying = (...parts: Uint8Array[]): GrpcStreamFault =>
  acting((stream) => {
    begin(stream);
    for (const part of parts) stream.write(part);
  });
const ending = (trailers: Record<string, string>): GrpcStreamFault => acting((stream) => end(stream, trailers));
const status = (code: number): GrpcStreamFault => ending({ 'grpc-status': String(code), 'grpc-message': canary });
const resetting = (code: number): GrpcStreamFault => acting((stream) => stream.close(code));

/** The headers, if they are not out already. */
function begin(stream: ServerHttp2Stream): void {
  if (!stream.headersSent) stream.respond(grpcHeaders, { waitForTrailers: true });
}

function end(stream: ServerHttp2Stream, trailers: Record<string, string>): void {
  begin(stream);
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end();
}

/** Every way in which the stream over gRPC can fail. */
const faults: Readonly<Record<string, GrpcStreamFault>> = {
  ...Object.fromEntries(
    Object.entries(grpcConnectionFaults).map(([name, { connect }]) => [
      name,
      { phases: ['before send'], ends: true, hurtsCalls: true, ...(connect && { connect }) } as const,
    ]),
  ),
  'a cut': acting((_stream, socket) => socket.destroy(), withCalls),
  'a reset connection': acting((_stream, socket) => socket.resetAndDestroy(), withCalls),
  'an end of the connection': acting((_stream, socket) => socket.end(), withCalls),
  'a stream that is cancelled': resetting(8),
  'a stream that is refused': resetting(7),
  'a stream that is reset for an error within': resetting(2),
  'a stream that is reset for too many calls': resetting(11),
  'GOAWAY with an error': acting((stream) => stream.session?.goaway(2), withCalls),
  'GOAWAY without an error': acting((stream) => stream.session?.goaway(0), silently),
  'frames that are none': acting((_stream, socket) => void socket.write(Buffer.alloc(100, 0xff)), {
    ends: false,
    hurtsCalls: true,
  }),
  silence: acting(() => undefined, silently),
  'headers, and then silence': acting(begin, silently),
  'half a message, and then silence': acting((stream) => {
    begin(stream);
    stream.write(grpcMessage(new Uint8Array(9), { length: 50 }));
  }, silently),
  'OK too early': status(0),
  'status CANCELLED': status(1),
  'status UNKNOWN': status(2),
  'status INVALID_ARGUMENT': status(3),
  'status DEADLINE_EXCEEDED': status(4),
  'status RESOURCE_EXHAUSTED': status(8),
  'status UNIMPLEMENTED': status(12),
  'status INTERNAL': status(13),
  'status UNAVAILABLE': status(14),
  'status UNAUTHENTICATED': status(16),
  'a status that is none': ending({ 'grpc-status': 'fine' }),
  'no status': ending({ 'x-status': '0' }),
  'garbage for a message': saying(grpcMessage(Buffer.alloc(40, 0xff))),
  'a message of which the head is garbage': saying(Buffer.alloc(20, 0xff)),
  'a message just over the limit': saying(grpcMessage(new Uint8Array(64 * 1024 + 1))),
  'a message of 64 MB': saying(grpcMessage(new Uint8Array(1024), { length: 64 * 1024 * 1024 })),
  'a message compressed without a word': saying(grpcMessage(Buffer.of(1), { flag: 1 })),
  ...Object.fromEntries(
    Object.entries(sayings).map(([name, responses]) => [
      name,
      acting((stream) => {
        begin(stream);
        for (const response of responses) stream.write(grpcMessage(response));
      }, silently),
    ]),
  ),
  ...rewriting,
};

/** Direct gRPC (interface section 4.2), with a faulty service between us and the real one. */
export const grpcStreamWay: StreamWay = { name: 'gRPC', faults, openLine };

const streamPath = grpcPath(operations.openMessageStream);
const operationAt = new Map(
  Object.values(operations).map((operation): [string, Operation] => [grpcPath(operation), operation]),
);

async function openLine(upstream: StreamUpstream): Promise<StreamLine> {
  let now: Struck<GrpcStreamFault> | undefined;
  const counts = { struck: 0, open: 0 };
  const strike = (at: Struck<GrpcStreamFault>, { stream, socket }: GrpcAnswering): void => {
    counts.struck += 1;
    at.fault.act?.(stream, socket);
  };
  const struckEarly = new WeakSet<ServerHttp2Stream>();
  const well: GrpcBehaviour = {
    begin: (answering) => {
      const { stream, call } = answering;
      if (call.path !== streamPath) return;
      counts.open += 1;
      stream.on('close', () => {
        counts.open -= 1;
      });
      if (now?.phase !== 'before send' || !now.fault.act) return;
      struckEarly.add(stream);
      strike(now, answering);
    },
    answer: (answering) => {
      const { stream, call } = answering;
      if (struckEarly.has(stream)) return;
      const at = now;
      const answered =
        call.path === streamPath
          ? serve(upstream, answering, at, () => at && strike(at, answering))
          : answerCall(upstream, answering, at?.isDown ?? false);
      answered.catch(() => stream.close(2));
    },
  };
  const server = await startGrpcFaultServer(well);
  const transport = createGrpcTransport({ url: server.url, timeoutMs: 1_000 });
  return {
    transport,
    get struck() {
      return counts.struck;
    },
    get openStreams() {
      return counts.open;
    },
    get openSockets() {
      return server.openConnections;
    },
    strike: (name, phase, isDown) => {
      const fault = faults[name] as GrpcStreamFault;
      now = { fault, phase, isDown };
      const { connect } = fault;
      if (!connect) return;
      server.behave({
        connect: (socket) => {
          counts.struck += 1;
          // Who does not read does not notice that the other side is gone.
          socket.resume();
          connect(socket);
        },
      });
    },
    lift: () => {
      now = undefined;
      server.behave(well);
    },
    close: () => server.close(),
  };
}

async function answerCall(upstream: StreamUpstream, { stream, call }: GrpcAnswering, isDown: boolean): Promise<void> {
  const operation = operationAt.get(call.path);
  if (!operation || isDown) return respond(stream, [], { trailers: { 'grpc-status': '14' } });
  const answer = await upstream.transport.call(operation, call.body);
  if (!stream.destroyed) respond(stream, [grpcMessage(answer)]);
}

async function serve(
  upstream: StreamUpstream,
  { stream, call }: GrpcAnswering,
  at: Struck<GrpcStreamFault> | undefined,
  strike: () => void,
): Promise<void> {
  const leaving = new AbortController();
  stream.on('close', () => leaving.abort());
  const isOver = await relay({
    upstream,
    body: call.body,
    at,
    strike,
    begin: () => begin(stream),
    send: (response) => stream.write(grpcMessage(response)),
    signal: leaving.signal,
  });
  if (isOver) end(stream, { 'grpc-status': '0' });
}
