import type { ChannelOptions, ClientReadableStream, Client as GrpcClient } from '@grpc/grpc-js';
import type { GrpcPackage } from '../../wire/grpc.js';

/** No message of the interface comes near this. A larger one is a fault, and is cut before it is decoded. */
const maxMessageBytes = 64 * 1024;

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // The resilient transport decides about retries, not the library and not a service config in DNS.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // As over HTTP: calls go to the configured address, whatever http_proxy says.
  'grpc.enable_http_proxy': 0,
  // Detects that the other end of a stream is gone. Only during calls: some services do not allow idle pings.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A device on the way may have dropped a connection that is idle for longer, without closing it.
  'grpc.client_idle_timeout_ms': 60_000,
  // Closing one client closes its own connections and no others.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
};

export interface GrpcRequestOptions {
  /** Without it the call may last for ever. */
  readonly timeoutMs?: number | undefined;
  /** As in `AttemptOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A call that runs. */
export interface GrpcCall {
  /** The bytes of each answer; throws the status with which the call ended, unless that is OK. */
  readonly answers: ClientReadableStream<Uint8Array>;
  /** Whether the call ever had a connection. */
  hadConnection(): boolean;
  /** Sends no more calls over this connection. The other calls on it run to their end. */
  abandonConnection(): void;
}

/**
 * One connection to the service at a time, opened by a call.
 *
 * States: without a client; with a client, which the next call uses. A client whose connection failed is abandoned: its
 * running calls keep it, and the next call opens a new one. So no call waits for the library's own reconnect delay, or is
 * sent over a connection that stopped responding without closing.
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
    // For unary calls too: the bytes on the wire are the same, and the number of answers can be checked.
    const answers = client.makeServerStreamRequest<Buffer, Uint8Array>(
      path,
      unchanged,
      toBytes,
      request,
      sentAlong,
      options,
    );
    // The reader gets the error as an exception. After a cancellation there is no reader.
    answers.on('error', () => undefined);
    return {
      answers,
      hadConnection: this.#watchForConnection(client.getChannel()),
      abandonConnection: () => this.#abandon(client),
    };
  }

  close(): void {
    if (this.#client) this.#abandon(this.#client);
  }

  #connect(): GrpcClient {
    const { protocol, hostname, port } = this.#url;
    const { credentials, Client } = this.#grpc;
    const isSecure = protocol === 'https:';
    // Loaded here, because few sites use gRPC.
    const { createSecureContext } = process.getBuiltinModule('node:tls');
    const target = `dns:${hostname}:${port || (isSecure ? 443 : 80)}`;
    this.#client ??= new Client(
      target,
      // An empty context: Node's own certificate authorities, as over HTTP, whatever GRPC_DEFAULT_SSL_ROOTS_FILE_PATH says.
      isSecure ? credentials.createFromSecureContext(createSecureContext()) : credentials.createInsecure(),
      channelOptions,
    );
    return this.#client;
  }

  /** Not `waitForReady` of the client, which keeps a timer and reconnects an abandoned connection. */
  #watchForConnection(channel: ReturnType<GrpcClient['getChannel']>): () => boolean {
    const { READY, SHUTDOWN } = this.#grpc.connectivityState;
    let hadConnection = false;
    const readState = (): void => {
      const state = channel.getConnectivityState(false);
      hadConnection = state === READY;
      if (state === READY || state === SHUTDOWN) return;
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, readState);
    };
    readState();
    return () => hadConnection;
  }

  #abandon(client: GrpcClient): void {
    if (this.#client === client) this.#client = undefined;
    stopConnecting(client.getChannel());
    client.close();
  }
}

const unchanged = (bytes: Buffer): Buffer => bytes;
const toBytes = ({ buffer, byteOffset, byteLength }: Buffer): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Internals of a channel of grpc-js 1.12 to 1.14. Another version may have less. */
interface ChannelInternals {
  readonly internalChannel?: {
    readonly subchannelPool?: { readonly pool?: Readonly<Record<string, readonly PoolEntry[]>> };
  };
}

interface PoolEntry {
  readonly subchannel?: { readonly connector?: { shutdown?(): void } };
}

/**
 * Ends the connection attempts of a channel that is about to close. grpc-js closes only the open connections: it goes on
 * waiting for one that does not respond, and retries one that failed; if that succeeds, the connection stays for ever. Each
 * short outage would leak one.
 */
function stopConnecting(channel: object): void {
  const { pool = {} } = (channel as ChannelInternals).internalChannel?.subchannelPool ?? {};
  for (const { subchannel } of Object.values(pool).flat()) subchannel?.connector?.shutdown?.();
}
