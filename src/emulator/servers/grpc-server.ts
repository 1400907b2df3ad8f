import { once } from 'node:events';
import { createServer as createListener, type Socket } from 'node:net';
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { SequencerError } from '../../errors.js';
import { decode, encode } from '../../wire/codec.js';
import { emulator, submitPayment } from '../../wire/emulator-codec.js';
import { type Operation, operations } from '../../wire/envelope.js';
import { defaultGrpcPackage, type GrpcPackage, grpcPath, loadGrpcPackage } from '../../wire/grpc.js';
import type { InProcessTransport } from './in-process-transport.js';
import { type ListenOptions, listen } from './listen.js';

/** What the proxy takes as well. */
const maxRequestBytes = 64 * 1024;

/** Direct gRPC (interface section 4.2), on a port of its own. */
export interface GrpcServer {
  /** grpc_url, such as `http://127.0.0.1:4748`. */
  readonly url: string;
  /** Ends it with all its connections. */
  close(): Promise<void>;
}

/**
 * Starts the gRPC server, which answers what a call in the process would be answered, deliberate faults included. It needs no guard of the Host: no page in a browser speaks HTTP/2 in the clear.
 * @throws {IntentError} `invalid_configuration` when the port is in use, or where the package that it needs is missing
 */
export async function startGrpcServer(transport: InProcessTransport, options: ListenOptions): Promise<GrpcServer> {
  const grpc = await loadGrpcPackage();
  const server = createServer(grpc, transport);
  // The library's own way to listen has no way not to hold the process.
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
    server.register(path, unary(grpc, transport, operation), asItIs, asItIs, 'unary');
  };
  const { openMessageStream: stream, ...others } = operations;
  for (const operation of Object.values(others)) register(operation, grpcPath(operation));
  server.register(grpcPath(stream), streaming(grpc, transport), asItIs, asItIs, 'serverStream');
  register(submitPayment, grpcPath(submitPayment, 'intents.emulator.v1.Emulator'));
  registerHealthCheck(grpc, server);
  return server;
}

/** The services a health check can name, by their full names; empty for the whole server. */
const healthyServices: ReadonlySet<string> = new Set([
  ...['', 'grpc.health.v1.Health', 'intents.emulator.v1.Emulator'],
  ...Object.values(operations).map(({ service }) => `${defaultGrpcPackage}.${service}`),
]);

/** The health check of gRPC (grpc.health.v1): all services are served for as long as the server is. */
function registerHealthCheck({ status }: GrpcPackage, server: Server): void {
  const { SERVING, SERVICE_UNKNOWN } = emulator.HealthCheckResponse.ServingStatus;
  const answerOf = (serving: emulator.HealthCheckResponse.ServingStatus): Buffer =>
    Buffer.from(encode(emulator.HealthCheckResponse, { status: serving }));
  const isServed = (request: Buffer): boolean => {
    try {
      return healthyServices.has(decode(emulator.HealthCheckRequest, request).service);
    } catch {
      return false;
    }
  };
  const check = ({ request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (isServed(request)) answer(null, answerOf(SERVING));
    else answer({ code: status.NOT_FOUND, details: 'There is no such service.' });
  };
  // A watch stays open, for changes that never come.
  const watch = (call: ServerWritableStream<Buffer, Buffer>): void =>
    void call.write(answerOf(isServed(call.request) ? SERVING : SERVICE_UNKNOWN));
  server.register('/grpc.health.v1.Health/Check', check, asItIs, asItIs, 'unary');
  server.register('/grpc.health.v1.Health/Watch', watch, asItIs, asItIs, 'serverStream');
}

const asItIs = (bytes: Buffer): Buffer => bytes;

function unary(grpc: GrpcPackage, transport: InProcessTransport, operation: Operation) {
  return (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    transport.call(operation, call.request, { signal: signalOf(call) }).then(
      (message) => answer(null, Buffer.from(message)),
      (error) => (isUnreadable(error) ? answer(null, garbage) : answer(statusOf(grpc, error))),
    );
  };
}

function streaming(grpc: GrpcPackage, transport: InProcessTransport) {
  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    const signal = signalOf(call);
    // At once, so that the client knows that it is heard, also where there is nothing to say yet.
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

/** Aborted when the client has left. */
function signalOf(call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>): AbortSignal {
  const leaving = new AbortController();
  call.on('cancelled', () => leaving.abort());
  return leaving.signal;
}

/** What no message begins with. */
const garbage = Buffer.from('ffffffff', 'hex');

function isUnreadable(error: unknown): boolean {
  return error instanceof SequencerError && error.code === 'sequencer_bad_response';
}

/** What the proxy answers with an ERROR envelope is INVALID_ARGUMENT here, with the same reason. */
function statusOf({ status }: GrpcPackage, error: unknown): { code: number; details: string } {
  const { code, serviceMessage = '', httpStatus } = error instanceof SequencerError ? error : {};
  if (code === 'sequencer_error') return { code: status.INVALID_ARGUMENT, details: serviceMessage };
  if (code === 'sequencer_unreachable') return { code: status.UNAVAILABLE, details: '' };
  return { code: httpStatus === 429 ? status.RESOURCE_EXHAUSTED : status.UNKNOWN, details: '' };
}
