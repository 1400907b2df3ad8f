import type { Pool } from 'undici';
import { SequencerError } from '../../errors.js';
import { encodeRequest, type Operation } from '../../wire/envelope.js';
import type { TimedAttemptOptions, Transport } from '../transport.js';
import { type Connections, maxResponseBytes, sendCall } from './http-call.js';
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

/** At most one new pool in this time, in milliseconds. */
const newPoolMs = 1_000;

/** Enough for all concurrent calls. A connection is opened only when a call needs it. */
const maxConnections = 256;

/** Calls the HTTP/1.1 proxy of the service over a pool of keep-alive connections. Each stream is a WebSocket. */
export function createHttpTransport({ url, timeoutMs, envelopeVersion }: HttpTransportOptions): Transport {
  const { origin, pathname } = new URL(url);
  const path = `${pathname.replace(/\/+$/, '')}/v1/api`;
  const connections = new ConnectionPools(origin, timeoutMs);
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
    const { current } = connections;
    return current
      ? sendCall(current, request, options)
      : connections.open().then((opened) => sendCall(opened, request, options));
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

/**
 * The connections of one transport. The first call loads undici and opens a pool; `close` closes it permanently. After a connection
 * broke that had been open, later calls use a new pool, and the old one ends with its running calls.
 */
class ConnectionPools {
  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #pools = new Set<ConnectionPool>();
  #openedAtMs = Number.NEGATIVE_INFINITY;
  current: ConnectionPool | undefined;
  #closed: Promise<unknown> | undefined;

  constructor(origin: string, timeoutMs: number) {
    this.#origin = origin;
    this.#timeoutMs = timeoutMs;
  }

  async open(): Promise<ConnectionPool> {
    const undici = await import('undici');
    if (this.#closed) {
      const message = 'The call was not sent: the client is closed. Create a new client.';
      throw new SequencerError('sequencer_unreachable', message);
    }
    this.current ??= this.#openPool(undici.Pool);
    return this.current;
  }

  /** Waits for running calls, and not for a connection that none of them needs. Can be called again. */
  close(): Promise<unknown> {
    this.#closed ??= Promise.all([...this.#pools].map((pool) => pool.close()));
    return this.#closed;
  }

  #openPool(PoolOfUndici: typeof Pool): ConnectionPool {
    const pool = new PoolOfUndici(this.#origin, {
      connections: maxConnections,
      // A new TLS connection costs as much as seventy calls over an open one.
      keepAliveTimeout: 60_000,
      maxResponseSize: maxResponseBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: this.#timeoutMs },
    });
    const opened: ConnectionPool = new ConnectionPool(pool, () => {
      // If single connections break again and again, opening all others anew would cost more than it helps.
      const isNew = performance.now() - this.#openedAtMs < newPoolMs;
      if (this.current !== opened || isNew || this.#closed) return;
      this.current = this.#openPool(PoolOfUndici);
      void opened.close().then(() => this.#pools.delete(opened));
    });
    this.#pools.add(opened);
    this.#openedAtMs = performance.now();
    return opened;
  }
}

class ConnectionPool implements Connections {
  readonly dispatcher: Pool;
  readonly abandon: () => void;
  #open = 0;
  /** The calls that have not ended. undici also counts those that ended while they waited for a connection. */
  #running = 0;
  #onNone: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(pool: Pool, abandon: () => void) {
    this.dispatcher = pool;
    this.abandon = abandon;
    pool.on('connect', () => {
      this.#open += 1;
    });
    pool.on('disconnect', () => {
      this.#open -= 1;
    });
  }

  begin(): boolean {
    this.#running += 1;
    return this.#running <= this.#open;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onNone?.();
  }

  /** Waits for running calls. Can be called again. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#onNone = resolve;
      if (this.#running === 0) resolve();
    }).then(() => this.dispatcher.destroy());
    return this.#closed;
  }
}
