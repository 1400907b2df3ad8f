import type { ChannelOptions, ClientReadableStream, Client as GrpcClient } from '@grpc/grpc-js';
import type { GrpcPackage } from '../../wire/grpc.js';

/** Messages of the interface are much smaller. A larger one is a fault, and is rejected before it is decoded. */
const maxMessageBytes = 64 * 1024;

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // The resilient transport decides about retries, not the library or a service config in DNS.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // As over HTTP: calls go to the configured address and ignore http_proxy.
  'grpc.enable_http_proxy': 0,
  // Detects a stream whose other end is gone. Only during calls: some services forbid idle pings.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A device on the network path may drop a connection that is idle for longer, without closing it.
  'grpc.client_idle_timeout_ms': 60_000,
  // Closing a client closes only its own connections.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
};

export interface GrpcRequestOptions {
  readonly timeoutMs?: number | undefined;
  /** As in `AttemptOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface GrpcCall {
  /** Yields the bytes of each answer. Throws the final status unless it is OK. */
  readonly answers: ClientReadableStream<Uint8Array>;
  /** Whether the connection was open before the call. */
  readonly usesOpenConnection: boolean;
  hadConnection(): boolean;
  /** How long the connection has been opening, in milliseconds. Infinite if the call had an open connection. */
  connectingMs(): number;
  /** Sends no further calls over this connection. Its running calls continue to their end. */
  abandonConnection(): void;
}

/**
 * One connection to the service at a time.
 *
 *     no client -- start -------------------------------> client: opens a connection, which further calls share
 *     client    -- abandonConnection, after a fault ----> no client: the running calls keep the abandoned one
 *     client    -- close -------------------------------> no client
 *
 * So after a fault, no call waits for the reconnect delay of the library, or is sent over a connection that stopped
 * responding without closing.
 */
export class GrpcChannel {
  readonly #grpc: GrpcPackage;
  readonly #url: URL;
  #client: GrpcClient | undefined;
  /** When the current attempt to connect began, by `performance.now()`. */
  #connectingSinceMs = 0;

  constructor(grpc: GrpcPackage, url: string) {
    this.#grpc = grpc;
    this.#url = new URL(url);
  }

  start(path: string, body: Uint8Array, { timeoutMs, metadata = {} }: GrpcRequestOptions = {}): GrpcCall {
    const client = this.#connect();
    const { connectivityState } = this.#grpc;
    const state = client.getChannel().getConnectivityState(false);
    if (state !== connectivityState.CONNECTING) this.#connectingSinceMs = performance.now();
    const connectingSinceMs = this.#connectingSinceMs;
    const hadConnection = this.#watchForConnection(client.getChannel());
    const request = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
    const callMetadata = new this.#grpc.Metadata();
    for (const name of Object.keys(metadata)) callMetadata.set(name, metadata[name] ?? '');
    // Used for unary calls, too: the bytes on the wire are the same, and the number of answers can be checked.
    const answers = client.makeServerStreamRequest<Buffer, Uint8Array>(
      path,
      unchanged,
      toBytes,
      request,
      callMetadata,
      options,
    );
    // The reader gets the error as an exception. A canceled call has no reader.
    answers.on('error', () => undefined);
    return {
      answers,
      usesOpenConnection: state === connectivityState.READY,
      hadConnection,
      connectingMs: () => (hadConnection() ? Number.POSITIVE_INFINITY : performance.now() - connectingSinceMs),
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
    // Loaded late, because few sites use gRPC.
    const { createSecureContext } = process.getBuiltinModule('node:tls');
    const target = `dns:${hostname}:${port || (isSecure ? 443 : 80)}`;
    this.#client ??= new Client(
      target,
      // An empty context uses Node's own certificate authorities, as over HTTP, and ignores
      // GRPC_DEFAULT_SSL_ROOTS_FILE_PATH.
      isSecure ? credentials.createFromSecureContext(createSecureContext()) : credentials.createInsecure(),
      channelOptions,
    );
    return this.#client;
  }

  /** Not `waitForReady`, which keeps a timer and reconnects an abandoned connection. */
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

/** Internals of a channel of grpc-js 1.12 to 1.14. Other versions may not have them. */
interface ChannelInternals {
  readonly internalChannel?: {
    readonly subchannelPool?: { readonly pool?: Readonly<Record<string, readonly PoolEntry[]>> };
  };
}

interface PoolEntry {
  readonly subchannel?: { readonly connector?: { shutdown?(): void } };
}

/**
 * Ends the connection attempts of a channel before it closes. grpc-js closes only open connections. It keeps waiting
 * for a pending one and retries a failed one; if that succeeds, the connection stays open forever. Each short outage
 * would leak one.
 */
function stopConnecting(channel: object): void {
  const { pool = {} } = (channel as ChannelInternals).internalChannel?.subchannelPool ?? {};
  for (const { subchannel } of Object.values(pool).flat()) subchannel?.connector?.shutdown?.();
}
