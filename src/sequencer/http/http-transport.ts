import type { Pool } from 'undici';
import { SequencerError } from '../../errors.js';
import { encodeRequest, type Operation } from '../../wire/envelope.js';
import type { TimedAttemptOptions, Transport } from '../transport.js';
import { maxResponseBytes, RunningCalls, sendCall } from './http-call.js';
import { WebSocketStreams } from './websocket-streams.js';

export interface HttpTransportOptions {
  /** base_url of the service; calls go to `{base_url}/v1/api` (interface section 4.1). */
  readonly url: string;
  /** Timeout of a connection attempt, in milliseconds: a whole number, 1 to 2^31 - 1. Each call has its own timeout. */
  readonly timeoutMs: number;
  /** The `version` of each envelope (interface section 9.2). Default: empty. */
  readonly envelopeVersion?: string | undefined;
}

const headers = { 'content-type': 'application/octet-stream', 'accept-encoding': 'identity' };

/** Enough for all concurrent calls. A connection is opened only when a call needs it. */
const maxConnections = 256;

/** Calls the HTTP/1.1 proxy of the service over a pool of keep-alive connections. Each stream is a WebSocket. */
export function createHttpTransport({ url, timeoutMs, envelopeVersion }: HttpTransportOptions): Transport {
  const { origin, pathname } = new URL(url);
  const path = `${pathname.replace(/\/+$/, '')}/v1/api`;
  const connections = new ConnectionPool(origin, timeoutMs);
  const streams = new WebSocketStreams({
    address: `${origin.replace(/^http/, 'ws')}${path}`,
    timeoutMs,
    pingMs: 30_000,
    envelopeVersion,
  });
  const send = (
    operation: Operation,
    body: Uint8Array,
    options: Partial<TimedAttemptOptions> = {},
  ): Promise<Uint8Array> => {
    const all = options.metadata ? { ...headers, ...options.metadata } : headers;
    const request = {
      origin,
      method: 'POST',
      path,
      headers: all,
      body: encodeRequest(operation, body, envelopeVersion),
    } as const;
    const { pool, running } = connections;
    return pool
      ? sendCall(pool, request, options, running)
      : connections.open().then((made) => sendCall(made, request, options, running));
  };
  return {
    call: send,
    callWithTimeout: send,
    openStream: (operation, body, options) => streams.open(operation, body, options),
    close: async () => {
      await Promise.all([connections.close(), streams.close()]);
    },
  };
}

/** The pool of one transport. The first call loads undici and creates the pool; `close` closes it permanently. */
class ConnectionPool {
  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly running = new RunningCalls();
  pool: Pool | undefined;
  #closed: Promise<void> | undefined;

  constructor(origin: string, timeoutMs: number) {
    this.#origin = origin;
    this.#timeoutMs = timeoutMs;
  }

  async open(): Promise<Pool> {
    const undici = await import('undici');
    if (this.#closed) {
      const message = 'The call was not sent: the client is closed. Create a new client.';
      throw new SequencerError('sequencer_unreachable', message);
    }
    this.pool ??= new undici.Pool(this.#origin, {
      connections: maxConnections,
      // A new TLS connection costs as much as seventy calls over an open one.
      keepAliveTimeout: 60_000,
      maxResponseSize: maxResponseBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: this.#timeoutMs },
    });
    return this.pool;
  }

  /** Waits for running calls, and not for a connection that none of them needs. Can be called again. */
  close(): Promise<void> {
    this.#closed ??= this.running.none().then(() => this.pool?.destroy());
    return this.#closed;
  }
}
