import { type Dispatcher, errors, Pool } from 'undici';
import { SequencerError } from '../errors.js';
import { encodeRequest, openResponse } from '../wire/envelope.js';
import { CallEnd } from './call-end.js';
import { parseRetryAfter } from './retry-after.js';
import type { Transport, TryOptions } from './transport.js';
import { WebSocketStreams } from './websocket-streams.js';

export interface HttpTransportOptions {
  /** base_url of the service; calls go to `{base_url}/v1/api` (interface section 4.1). */
  readonly url: string;
  /** Until a connection has come about, in milliseconds: a whole number, 1 to 2^31 - 1. A call is bounded by its own options. */
  readonly timeoutMs: number;
}

/** Whether a timer takes this: a fraction it refuses, and what is over its 31 bits fires at once. */
export function isTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs < 2 ** 31;
}

const headers = { 'content-type': 'application/octet-stream', 'accept-encoding': 'identity' };

/** No answer of the interface comes near this; more is a fault, and is cut before it is decoded. */
const maxResponseBytes = 64 * 1024;

/** What many answers that are on their way at once may need; none is opened before it is needed. */
const maxConnections = 256;

/** The HTTP/1.1 proxy of the service, over a pool of connections that are kept alive; each stream is a WebSocket. */
export function createHttpTransport({ url, timeoutMs }: HttpTransportOptions): Transport {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: maxConnections,
    // A new TLS connection costs as much as seventy calls over an open one.
    keepAliveTimeout: 60_000,
    maxResponseSize: maxResponseBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs },
  });
  const path = `${pathname.replace(/\/+$/, '')}/v1/api`;
  const streams = new WebSocketStreams({
    address: `${origin.replace(/^http/, 'ws')}${path}`,
    timeoutMs,
    pingMs: 30_000,
  });
  let closed: Promise<void> | undefined;
  return {
    keepsTime: true,
    call: (operation, body, options) => post(pool, path, encodeRequest(operation, body), options),
    openStream: (operation, body, options) => streams.open(operation, body, options),
    close: () => {
      // The pool refuses to be closed twice; whoever shuts a server down may well ask twice.
      closed ??= Promise.all([pool.close(), streams.close()]).then(() => undefined);
      return closed;
    },
  };
}

async function post(pool: Pool, path: string, body: Uint8Array, options: TryOptions = {}): Promise<Uint8Array> {
  const end = new CallEnd(options);
  try {
    const response = await pool.request({ method: 'POST', path, headers, body, signal: end });
    const refusal = refusalOf(response);
    if (refusal) {
      // The connection is of use again only once the body is out of the way; one that is long is not worth waiting for.
      await response.body.dump({ limit: maxResponseBytes }).catch(() => undefined);
      throw refusal;
    }
    return openResponse(new Uint8Array(await response.body.arrayBuffer()));
  } catch (error) {
    throw end.aborted ? end.reason : asSequencerError(error);
  } finally {
    end.release();
  }
}

/** What a proxy on the way says in place of the service: its own pages, or messages of another protocol. */
const foreignType = /^\s*(?:text\/html|application\/(?:[\w.-]+\+)?(?:json|xml))\s*(?:;|$)/i;

/** What makes an answer one that is not even read. */
function refusalOf({ statusCode, headers }: Dispatcher.ResponseData): SequencerError | undefined {
  // Interface section 7.3: a status other than 2xx means that the request failed. A redirect is one of these.
  if (statusCode < 200 || statusCode > 299) {
    return new SequencerError('sequencer_bad_status', `The sequencer answered with HTTP status ${statusCode}.`, {
      httpStatus: statusCode,
      retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
    });
  }
  if (foreignType.test(String(headers['content-type'] ?? ''))) {
    return new SequencerError('sequencer_bad_response', 'The answer says of itself that it is no envelope.');
  }
  if (!/^\s*(?:identity\s*)?$/i.test(String(headers['content-encoding'] ?? ''))) {
    return new SequencerError('sequencer_bad_response', 'The answer is compressed, which was not asked for.');
  }
  return undefined;
}

function asSequencerError(error: unknown): SequencerError {
  if (error instanceof SequencerError) return error;
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    const message = `The answer is over ${maxResponseBytes} bytes.`;
    return new SequencerError('sequencer_bad_response', message, { cause: error });
  }
  if (error instanceof errors.HTTPParserError) {
    return new SequencerError('sequencer_bad_response', 'The answer is not HTTP.', { cause: error });
  }
  return new SequencerError('sequencer_unreachable', 'The sequencer cannot be reached.', { cause: error });
}
