import { once } from 'node:events';
import { createServer as createListener, type Socket } from 'node:net';
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { SequencerError } from '../../errors.js';
import { decode, encode } from '../../wire/codec.js';
import { type Operation, operations } from '../../wire/envelope.js';
import { defaultGrpcPackage, type GrpcPackage, grpcPath, loadGrpcPackage } from '../../wire/grpc.js';
import { simulator, submitPayment } from '../../wire/simulator-codec.js';
import type { InProcessTransport } from './in-process-transport.js';
import { type ListenOptions, listen } from './listen.js';

/** The same as the limit of the proxy. */
const maxRequestBytes = 64 * 1024;

/** Direct gRPC (interface section 4.2), on its own port. */
export interface GrpcServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the gRPC server, which serves the same operations and faults as the in-process transport. It does not check the Host,
 * because browser pages cannot use HTTP/2 without TLS.
 * @throws {IntentError} `invalid_configuration` if the port is in use or `@grpc/grpc-js` is missing
 */
export async function startGrpcServer(transport: InProcessTransport, options: ListenOptions): Promise<GrpcServer> {
  const grpc = await loadGrpcPackage();
  const server = createServer(grpc, transport);
  // A listener of the library would keep the process alive.
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const listener = createListener((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    injector.injectConnection(socket);
  });
  const url = `http://127.0.0.1:${await listen(listener, options)}`;
  return {
    url,
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      server.forceShutdown();
      await closed;
    },
  };
}

function createServer(grpc: GrpcPackage, transport: InProcessTransport): Server {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.enable_channelz': 0,
  });
  const register = (operation: Operation, path: string): void => {
    server.register(path, unary(grpc, transport, operation), unchanged, unchanged, 'unary');
  };
  const { openMessageStream: stream, ...others } = operations;
  for (const operation of Object.values(others)) register(operation, grpcPath(operation));
  server.register(grpcPath(stream), streaming(grpc, transport), unchanged, unchanged, 'serverStream');
  register(submitPayment, grpcPath(submitPayment, 'intents.simulator.v1.Simulator'));
  registerHealthCheck(grpc, server);
  return server;
}

/** Full service names for health checks; empty for the whole server. */
const healthyServices: ReadonlySet<string> = new Set([
  ...['', 'grpc.health.v1.Health', 'intents.simulator.v1.Simulator'],
  ...Object.values(operations).map(({ service }) => `${defaultGrpcPackage}.${service}`),
]);

/** The gRPC health check (grpc.health.v1). All services are up while the server runs. */
function registerHealthCheck({ status }: GrpcPackage, server: Server): void {
  const { SERVING, SERVICE_UNKNOWN } = simulator.HealthCheckResponse.ServingStatus;
  const answerOf = (serving: simulator.HealthCheckResponse.ServingStatus): Buffer =>
    Buffer.from(encode(simulator.HealthCheckResponse, { status: serving }));
  const isServed = (request: Buffer): boolean => {
    try {
      return healthyServices.has(decode(simulator.HealthCheckRequest, request).service);
    } catch {
      return false;
    }
  };
  const check = ({ request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (isServed(request)) answer(null, answerOf(SERVING));
    else answer({ code: status.NOT_FOUND, details: 'Unknown service.' });
  };
  // A watch stays open without further messages, because the status never changes.
  const watch = (call: ServerWritableStream<Buffer, Buffer>): void =>
    void call.write(answerOf(isServed(call.request) ? SERVING : SERVICE_UNKNOWN));
  server.register('/grpc.health.v1.Health/Check', check, unchanged, unchanged, 'unary');
  server.register('/grpc.health.v1.Health/Watch', watch, unchanged, unchanged, 'serverStream');
}

const unchanged = (bytes: Buffer): Buffer => bytes;

function unary(grpc: GrpcPackage, transport: InProcessTransport, operation: Operation) {
  return (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    transport.call(operation, call.request, { signal: disconnectSignal(call) }).then(
      (message) => answer(null, Buffer.from(message)),
      (error) => (isUnreadable(error) ? answer(null, garbage) : answer(statusOf(grpc, error))),
    );
  };
}

function streaming(grpc: GrpcPackage, transport: InProcessTransport) {
  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    const signal = disconnectSignal(call);
    // The headers show the client that the stream is open.
    call.sendMetadata(new grpc.Metadata());
    deliver(transport, call, signal).catch((error) => {
      if (signal.aborted) return;
      if (isUnreadable(error)) call.end(garbage);
      else call.emit('error', statusOf(grpc, error));
    });
  };
}

async function deliver(
  transport: InProcessTransport,
  call: ServerWritableStream<Buffer, Buffer>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of transport.openStream(operations.openMessageStream, call.request, { signal })) {
    if (!call.write(Buffer.from(message))) await once(call, 'drain', { signal });
  }
  call.end();
}

function disconnectSignal(call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>): AbortSignal {
  const disconnect = new AbortController();
  call.on('cancelled', () => disconnect.abort());
  return disconnect.signal;
}

const garbage = Buffer.from('ffffffff', 'hex');

function isUnreadable(error: unknown): boolean {
  return error instanceof SequencerError && error.code === 'sequencer_bad_response';
}

/** INVALID_ARGUMENT corresponds to an ERROR envelope of the proxy, with the same reason. */
function statusOf({ status }: GrpcPackage, error: unknown): { code: number; details: string } {
  const { code, serviceMessage = '', httpStatus } = error instanceof SequencerError ? error : {};
  if (code === 'sequencer_error') return { code: status.INVALID_ARGUMENT, details: serviceMessage };
  if (code === 'sequencer_unreachable') return { code: status.UNAVAILABLE, details: '' };
  if (httpStatus === undefined) return { code: status.UNKNOWN, details: '' };
  // The text of the library for the HTTP status of a gateway.
  return { code: status.UNKNOWN, details: `Received HTTP status code ${httpStatus}` };
}
