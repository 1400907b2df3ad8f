import type { WebSocket } from 'ws';
import { listenForAbort } from '../../async/abort.js';
import { SequencerError } from '../../errors.js';
import { encodeRequest, type Operation, openResponse, otherServerError } from '../../wire/envelope.js';
import { type AttemptOptions, httpStatusError, unreachableError } from '../transport.js';
import { StreamQueue } from './stream-queue.js';

export interface WebSocketTarget {
  /** `ws:` or `wss:`, with the path. */
  readonly address: string;
  readonly timeoutMs: number;
  /** The interval of pings, in milliseconds. If no pong arrives before the next ping, the stream fails. */
  readonly pingMs: number;
  readonly envelopeVersion?: string | undefined;
}

export class WebSocketStreams {
  readonly #target: WebSocketTarget;
  readonly #streams = new Set<WebSocketStream>();
  #isClosed = false;

  constructor(target: WebSocketTarget) {
    this.#target = target;
  }

  /** Each reader has its own socket, opened when the reader starts. */
  open(operation: Operation, body: Uint8Array, { signal }: AttemptOptions = {}): AsyncIterable<Uint8Array> {
    const request = encodeRequest(operation, body, this.#target.envelopeVersion);
    return { [Symbol.asyncIterator]: () => this.#connect(request, signal).reader };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const streams = [...this.#streams];
    for (const stream of streams) stream.fail(transportClosed());
    await Promise.all(streams.map((stream) => stream.closed));
  }

  #connect(request: Uint8Array, signal: AbortSignal | undefined): WebSocketStream {
    const stream = new WebSocketStream(this.#target, request);
    this.#streams.add(stream);
    const unlisten = listenForAbort([signal], ({ reason }) => stream.fail(reason));
    void stream.closed.then(() => {
      this.#streams.delete(stream);
      unlisten();
    });
    if (signal?.aborted) stream.fail(signal.reason);
    else if (this.#isClosed) stream.fail(transportClosed());
    return stream;
  }
}

/** Messages of the interface are much smaller. */
const maxPayloadBytes = 64 * 1024;
/**
 * A frame may arrive in at most this many reads. `ws` removes them one by one from the front of an array, which blocks the process
 * for seconds if 64 KiB arrive in single bytes. The smallest TCP segments of 536 bytes make 123 reads.
 */
const maxBufferedChunks = 4_096;
/** How long to wait for the answer to a close frame, in milliseconds. */
const closeTimeoutMs = 1_000;

/**
 * One message stream over a WebSocket. Each binary frame is an envelope: one Request from this package, then Responses (protocol
 * section 5). The reader gets the inner messages of the Responses.
 *
 *     connecting -- handshake ----------------------------------> open, with a ping every `pingMs`
 *     connecting -- `timeoutMs`, a fault, or the reader stops --> closed
 *     open       -- the reader stops, or a fault ---------------> closing
 *     closing    -- close frame, or `closeTimeoutMs` passes ----> closed
 *     open       -- close frame, or the connection breaks ------> closed
 *
 * A close frame with code 1000 ends the reader. Any other end is an error, which the reader gets after the earlier
 * messages.
 */
class WebSocketStream {
  readonly reader: StreamQueue;
  readonly closed: Promise<void>;
  readonly #target: WebSocketTarget;
  readonly #request: Uint8Array;
  #socket: WebSocket | undefined;
  #isPaused = false;
  #awaitsPong = false;
  #timer: NodeJS.Timeout | undefined;
  #markClosed: () => void = () => undefined;

  constructor(target: WebSocketTarget, request: Uint8Array) {
    this.#target = target;
    this.#request = request;
    this.reader = new StreamQueue({
      pause: () => this.#pause(true),
      resume: () => this.#pause(false),
      cancel: () => this.#closeSocket(),
    });
    this.closed = new Promise((resolve) => {
      this.#markClosed = resolve;
    });
    this.#connect().catch((error) => {
      this.fail(error);
      this.#markClosed();
    });
  }

  fail(error: unknown): void {
    this.reader.end({ error });
    this.#closeSocket();
  }

  async #connect(): Promise<void> {
    // Loaded by the first stream: a site without streams does not need it.
    const { WebSocket } = await import('ws');
    if (this.reader.isEnded) return this.#markClosed();
    const { address, timeoutMs } = this.#target;
    const socket = new WebSocket(address, {
      perMessageDeflate: false,
      maxPayload: maxPayloadBytes,
      maxBufferedChunks,
      followRedirects: false,
    });
    this.#socket = socket;
    // Not handshakeTimeout of ws, which restarts with every byte.
    this.#timer = setTimeout(() => this.fail(handshakeTimeoutError(timeoutMs)), timeoutMs);
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => this.fail(httpStatusError(statusCode)));
    socket.on('open', () => this.#sendRequest(socket));
    socket.on('pong', () => {
      this.#awaitsPong = false;
    });
    socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on('error', (error) => this.fail(asStreamError(error)));
    socket.on('close', (code) => this.#onClose(code));
  }

  #sendRequest(socket: WebSocket): void {
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#ping(), this.#target.pingMs).unref();
    socket.send(this.#request);
  }

  #ping(): void {
    // A paused socket reads no pong.
    if (this.#isPaused) return;
    if (this.#awaitsPong) {
      this.fail(unreachable('The sequencer did not answer a ping, so the stream was closed. Open it again.'));
      return;
    }
    this.#awaitsPong = true;
    this.#socket?.ping();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.reader.isEnded) return;
    try {
      if (!isBinary) throw otherServerError('The sequencer sent a text frame in a stream.');
      if (this.reader.push(openResponse(new Uint8Array(data)))) return;
      throw new SequencerError(
        'sequencer_bad_response',
        'The sequencer kept sending to a paused stream. Report this to the operator of the sequencer.',
      );
    } catch (error) {
      this.fail(error);
    }
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#awaitsPong = false;
    if (isPaused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #onClose(code: number): void {
    clearTimeout(this.#timer);
    this.reader.end(
      code === 1000
        ? {}
        : { error: unreachable(`The sequencer closed the stream with WebSocket code ${code}. Open it again.`) },
    );
    this.#markClosed();
  }

  #closeSocket(): void {
    const socket = this.#socket;
    if (!socket || socket.readyState === socket.CLOSED) return;
    clearTimeout(this.#timer);
    if (socket.readyState === socket.CONNECTING) {
      socket.terminate();
      return;
    }
    if (socket.readyState === socket.OPEN) {
      // A paused socket would not read the close frame of the service.
      socket.resume();
      socket.close(1000);
    }
    this.#timer = setTimeout(() => socket.terminate(), closeTimeoutMs).unref();
  }
}

function handshakeTimeoutError(timeoutMs: number): SequencerError {
  const message = `The sequencer did not open the stream within ${timeoutMs} ms. Allow WebSockets in every proxy and firewall.`;
  return new SequencerError('sequencer_timeout', message);
}

const transportClosed = (): SequencerError => unreachable('The client is closed. Create a new client.');

function unreachable(message: string, cause?: unknown): SequencerError {
  return new SequencerError('sequencer_unreachable', message, { cause });
}

/** Converts an error of ws. A code of ws or of the HTTP parser, or no code, means another protocol. */
function asStreamError(cause: Error & { readonly code?: unknown }): SequencerError {
  const { code } = cause;
  if (typeof code === 'string' && !/^(?:WS_ERR_|HPE_)/.test(code)) {
    return unreachableError(cause);
  }
  return otherServerError('The sequencer does not speak the stream protocol.', cause);
}
