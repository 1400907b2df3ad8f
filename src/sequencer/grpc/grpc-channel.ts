import type { ChannelOptions, ClientReadableStream, Client as GrpcClient } from '@grpc/grpc-js';
import type { GrpcPackage } from '../../wire/grpc.js';
import { stopConnecting } from './stop-connecting.js';

/** No message of the interface comes near this; more is a fault, and is cut before it is decoded. */
const maxMessageBytes = 64 * 1024;

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // What is tried again, and when, is for the layer above to say, and for nobody whom DNS believes.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // As over HTTP: the way to the service is the one that was set, whatever http_proxy says.
  'grpc.enable_http_proxy': 0,
  // Finds out that the other end of a stream is gone. Only while there are calls: some services mind idle pings.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A connection that is idle for longer may have been dropped by something on the way without a word.
  'grpc.client_idle_timeout_ms': 60_000,
  // Closing one client closes its own connections, and nobody else's.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
};

export interface GrpcRequestOptions {
  /** Without it the call may last for ever. */
  readonly timeoutMs?: number | undefined;
  /** As that of `TryOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A call under way. */
export interface GrpcCall {
  /** Bytes, as many times as there come some; throws the status with which the call ended, unless that is OK. */
  readonly answers: ClientReadableStream<Uint8Array>;
  /** Whether the call has got a connection, be it gone again since. */
  hadConnection(): boolean;
  /** Lets the other calls of this connection end, and sends no more over it. */
  abandonConnection(): void;
}

/**
 * One connection to the service at a time, made at a call.
 *
 * One that failed is left to its running calls, and the next call makes another: it does not wait until the library
 * dares to connect again, nor is it sent over a connection that has gone dead without saying so.
 */
export class GrpcChannel {
  readonly #grpc: GrpcPackage;
  readonly #url: URL;
  #client: GrpcClient | undefined;

  constructor(grpc: GrpcPackage, url: string) {
    this.#grpc = grpc;
    this.#url = new URL(url);
  }

  /** Sends a request. */
  start(path: string, body: Uint8Array, { timeoutMs, metadata = {} }: GrpcRequestOptions = {}): GrpcCall {
    const client = this.#connect();
    const request = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
    const sentAlong = new this.#grpc.Metadata();
    for (const name of Object.keys(metadata)) sentAlong.set(name, metadata[name] ?? '');
    // Also where one answer is expected: on the wire it is the same, and here it can be seen how many came.
    const answers = client.makeServerStreamRequest<Buffer, Uint8Array>(
      path,
      asItIs,
      toBytes,
      request,
      sentAlong,
      options,
    );
    // What the reader is thrown is emitted as well, and after a cancellation there is no reader any more.
    answers.on('error', () => undefined);
    return {
      answers,
      hadConnection: this.#watchForConnection(client.getChannel()),
      abandonConnection: () => this.#leave(client),
    };
  }

  close(): void {
    if (this.#client) this.#leave(this.#client);
  }

  #connect(): GrpcClient {
    const { protocol, hostname, port } = this.#url;
    const { credentials, Client } = this.#grpc;
    const isSecure = protocol === 'https:';
    // Not with the package, as few sites speak gRPC.
    const { createSecureContext } = process.getBuiltinModule('node:tls');
    const target = `dns:${hostname}:${port || (isSecure ? 443 : 80)}`;
    this.#client ??= new Client(
      target,
      // Of nothing: whom Node trusts is trusted, as over HTTP, whatever GRPC_DEFAULT_SSL_ROOTS_FILE_PATH says.
      isSecure ? credentials.createFromSecureContext(createSecureContext()) : credentials.createInsecure(),
      channelOptions,
    );
    return this.#client;
  }

  /** Not `waitForReady` of the client, which keeps a timer, and wakes a connection that was left. */
  #watchForConnection(channel: ReturnType<GrpcClient['getChannel']>): () => boolean {
    const { READY, SHUTDOWN } = this.#grpc.connectivityState;
    let hadConnection = false;
    const look = (): void => {
      const state = channel.getConnectivityState(false);
      hadConnection = state === READY;
      if (state !== READY && state !== SHUTDOWN) channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
    };
    look();
    return () => hadConnection;
  }

  #leave(client: GrpcClient): void {
    if (this.#client === client) this.#client = undefined;
    stopConnecting(client.getChannel());
    client.close();
  }
}

const asItIs = (bytes: Buffer): Buffer => bytes;
const toBytes = ({ buffer, byteOffset, byteLength }: Buffer): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
