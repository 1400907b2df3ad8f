import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { plainSuccess } from './fault-sequencer.js';

/** One received call; `n` counts the calls of this server from 1. */
export interface GrpcFaultCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  readonly n: number;
}

/** The parts of a response, available when the call has been received completely. */
export interface GrpcAnswering {
  readonly stream: ServerHttp2Stream;
  readonly call: GrpcFaultCall;
  /** The connection below HTTP/2. */
  readonly socket: Socket;
}

export type GrpcAnswer = (answering: GrpcAnswering) => void;

/** The behavior of a gRPC server: for a connection, or for a call. */
export interface GrpcBehaviour {
  /** Instead of HTTP/2. */
  readonly connect?: (socket: Socket) => void;
  /** Called with the headers of a call, before its message. */
  readonly begin?: GrpcAnswer;
  readonly answer?: GrpcAnswer;
}

export interface GrpcFaultServer {
  /** grpc_url. */
  readonly url: string;
  readonly calls: GrpcFaultCall[];
  /** The number of connections so far, and of those that are open. */
  readonly connections: number;
  readonly openConnections: number;
  /** Changes the behavior. */
  behave(behavior: GrpcBehaviour): void;
  close(): Promise<void>;
}

/** A gRPC server on plain HTTP/2 that behaves as the test sets, on a free port of the loopback address. */
export async function startGrpcFaultServer(behavior: GrpcBehaviour): Promise<GrpcFaultServer> {
  const calls: GrpcFaultCall[] = [];
  const sockets = new Map<number | undefined, Socket>();
  let current = behavior;
  let connections = 0;
  const http2 = createHttp2Server();
  const ignore = (): void => undefined;
  http2.on('sessionError', ignore);
  http2.on('session', (session) => session.on('error', ignore));
  http2.on('stream', (stream, headers) => {
    const socket = sockets.get(stream.session?.socket.remotePort);
    const path = String(headers[':path']);
    const chunks: Buffer[] = [];
    stream.on('error', ignore);
    if (socket)
      current.begin?.({ stream, call: { path, body: new Uint8Array(), headers, n: calls.length + 1 }, socket });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const body = new Uint8Array(Buffer.concat(chunks).subarray(5));
      const call = { path, body, headers, n: calls.length + 1 };
      calls.push(call);
      if (socket) current.answer?.({ stream, call, socket });
    });
  });
  const server = createServer((socket) => {
    connections += 1;
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.on('error', ignore);
    socket.on('close', () => sockets.delete(remotePort));
    if (current.connect) current.connect(socket);
    else http2.emit('connection', socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    behave: (next) => {
      current = next;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
}

/** A gRPC message; by default uncompressed and with the correct length. */
export function grpcMessage(bytes: Uint8Array, { flag = 0, length = bytes.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}

export const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Sends the headers of a response, unless they were sent before. */
export function beginStream(stream: ServerHttp2Stream, headers: Record<string, string | number> = {}): void {
  if (!stream.headersSent) stream.respond({ ...grpcHeaders, ...headers }, { waitForTrailers: true });
}

/** A complete response: headers, these bytes, trailers. */
export function respond(
  stream: ServerHttp2Stream,
  parts: readonly Uint8Array[],
  {
    headers = {},
    trailers = { 'grpc-status': '0' },
  }: { headers?: Record<string, string | number>; trailers?: Record<string, string> } = {},
): void {
  beginStream(stream, headers);
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const part of parts) stream.write(part);
  stream.end();
}

/** OK with a serialized inner message, by default that of a plain success. */
export function grpcOk(body?: Uint8Array): GrpcBehaviour {
  return { answer: ({ stream, call }) => respond(stream, [grpcMessage(body ?? plainSuccess(methodOf(call)))]) };
}

const methodOf = ({ path }: GrpcFaultCall): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.charAt(0).toLowerCase() + name.slice(1);
};

/** A gRPC status of the service instead of a message. */
export function grpcStatus(status: string | number, message = ''): GrpcBehaviour {
  const trailers = { 'grpc-status': String(status), 'grpc-message': encodeURI(message) };
  return { answer: ({ stream }) => respond(stream, [], { trailers }) };
}
