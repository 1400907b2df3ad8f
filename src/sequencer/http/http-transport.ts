import type { Pool } from 'undici';
import { SequencerError } from '../../errors.js';
import { encodeRequest, type Operation } from '../../wire/envelope.js';
import type { Transport, TryBounds } from '../transport.js';
import { maxResponseBytes, sendCall } from './http-call.js';
import { WebSocketStreams } from './websocket-streams.js';

export interface HttpTransportOptions {
  /** base_url of the service; calls go to `{base_url}/v1/api` (interface section 4.1). */
  readonly url: string;
  /** Until a connection has come about, in milliseconds: a whole number, 1 to 2^31 - 1. A call is bounded by its own options. */
  readonly timeoutMs: number;
  /** Sent as the `version` of each envelope (interface section 9.2). Default: empty. */
  readonly envelopeVersion?: string | undefined;
}

/** Whether a timer takes this: a fraction it refuses, and what is over its 31 bits fires at once. */
export function isTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs < 2 ** 31;
}

const headers = { 'content-type': 'application/octet-stream', 'accept-encoding': 'identity' };

/** What many answers that are on their way at once may need; none is opened before it is needed. */
const maxConnections = 256;

/** The HTTP/1.1 proxy of the service, over a pool of connections that are kept alive; each stream is a WebSocket. */
export function createHttpTransport({ url, timeoutMs, envelopeVersion }: HttpTransportOptions): Transport {
  const { origin, pathname } = new URL(url);
  const path = `${pathname.replace(/\/+$/, '')}/v1/api`;
  const connections = new Connections(origin, timeoutMs);
  const streams = new WebSocketStreams({
    address: `${origin.replace(/^http/, 'ws')}${path}`,
    timeoutMs,
    pingMs: 30_000,
    envelopeVersion,
  });
  const send = (operation: Operation, body: Uint8Array, bounds: Partial<TryBounds> = {}): Promise<Uint8Array> => {
    const all = bounds.metadata ? { ...headers, ...bounds.metadata } : headers;
    const request = {
      origin,
      method: 'POST',
      path,
      headers: all,
      body: encodeRequest(operation, body, envelopeVersion),
    } as const;
    const { pool } = connections;
    return pool ? sendCall(pool, request, bounds) : connections.open().then((made) => sendCall(made, request, bounds));
  };
  return {
    call: send,
    callWithin: send,
    openStream: (operation, body, options) => streams.open(operation, body, options),
    close: async () => {
      await Promise.all([connections.close(), streams.close()]);
    },
  };
}

/** The pool of one transport. The first call makes it, and loads what it is made of. */
class Connections {
  readonly #origin: string;
  readonly #timeoutMs: number;
  /** Once there is one. */
  pool: Pool | undefined;
  #closed: Promise<void> | undefined;

  constructor(origin: string, timeoutMs: number) {
    this.#origin = origin;
    this.#timeoutMs = timeoutMs;
  }

  async open(): Promise<Pool> {
    const undici = await import('undici');
    if (this.#closed) throw new SequencerError('sequencer_unreachable', 'The way to the sequencer is closed.');
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

  /** The pool refuses to be closed twice; whoever shuts a server down may well ask twice. */
  close(): Promise<void> {
    this.#closed ??= Promise.resolve(this.pool?.close());
    return this.#closed;
  }
}
