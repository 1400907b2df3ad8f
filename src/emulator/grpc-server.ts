import { once } from 'node:events';
import { createServer as createListener, type Socket } from 'node:net';
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { submitPayment } from '../wire/emulator-codec.js';
import { type Operation, openResponse, operations } from '../wire/envelope.js';
import { type GrpcPackage, loadGrpcPackage } from '../wire/grpc-package.js';
import { grpcPath } from '../wire/grpc-path.js';
import { dispatch, reasonOf } from './dispatch.js';
import { type ListenOptions, listen } from './listen.js';
import { openMessageStream } from './open-message-stream.js';
import type { SequencerState } from './sequencer-state.js';

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
 * Starts the gRPC server. It needs no guard of the Host: no page in a browser speaks HTTP/2 in the clear.
 * @throws {IntentError} `invalid_configuration` when the port is in use, or where the package that it needs is missing
 */
export async function startGrpcServer(state: SequencerState, options: ListenOptions): Promise<GrpcServer> {
  const grpc = await loadGrpcPackage();
  const server = createServer(grpc, state);
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

function createServer(grpc: GrpcPackage, state: SequencerState): Server {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.enable_channelz': 0,
  });
  const register = (operation: Operation, path: string): void => {
    server.register(path, unary(grpc, state, operation), asItIs, asItIs, 'unary');
  };
  const { openMessageStream: stream, ...others } = operations;
  for (const operation of Object.values(others)) register(operation, grpcPath(operation));
  server.register(grpcPath(stream), streaming(grpc, state), asItIs, asItIs, 'serverStream');
  register(submitPayment, grpcPath(submitPayment, 'intents.emulator.v1'));
  return server;
}

const asItIs = (bytes: Buffer): Buffer => bytes;

/** What the proxy answers with an ERROR envelope is INVALID_ARGUMENT here, with the same reason. */
function unary({ status }: GrpcPackage, state: SequencerState, operation: Operation) {
  return (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    dispatch(state, { ...operation, body: call.request })
      .then((envelope) => answer(null, Buffer.from(openResponse(envelope))))
      .catch(({ serviceMessage }) => answer({ code: status.INVALID_ARGUMENT, details: serviceMessage }));
  };
}

function streaming(grpc: GrpcPackage, state: SequencerState) {
  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    const leaving = new AbortController();
    call.on('cancelled', () => leaving.abort());
    // At once, so that the client knows that it is heard, also where there is nothing to say yet.
    call.sendMetadata(new grpc.Metadata());
    deliver(state, call, leaving.signal).catch((error) => {
      if (leaving.signal.aborted) return;
      call.emit('error', { code: grpc.status.INVALID_ARGUMENT, details: reasonOf(error) });
    });
  };
}

async function deliver(
  state: SequencerState,
  call: ServerWritableStream<Buffer, Buffer>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of openMessageStream(state, call.request, signal)) {
    if (!call.write(Buffer.from(message))) await once(call, 'drain', { signal });
  }
  call.end();
}
