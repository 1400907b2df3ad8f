import type { WebSocket } from 'ws';
import { SequencerError } from '../../errors.js';
import { openResponse } from '../../wire/envelope.js';
import { StreamQueue } from './stream-queue.js';
import { asStreamError, badStatus, timedOut, unreachable } from './websocket-error.js';

export interface WebSocketTarget {
  /** `ws:` or `wss:`, with the path. */
  readonly address: string;
  /** Bound of the handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** From one ping to the next; whoever has not answered by then is gone. In milliseconds. */
  readonly pingMs: number;
  /** The `version` of the request's envelope. */
  readonly envelopeVersion?: string | undefined;
}

/** No message of the interface comes near this. */
const maxPayloadBytes = 64 * 1024;
/** For the other side to say goodbye as well, in milliseconds. */
const graceMs = 1_000;

/**
 * One message stream over a WebSocket: each binary frame is an envelope, one Request from us, then Responses (protocol
 * section 5). The reader gets their inner messages. A closing frame with 1000 ends it; everything else is a fault.
 */
export class WebSocketStream {
  readonly reader: StreamQueue;
  /** Resolves when no socket is left. */
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
      leave: () => this.#hangUp(),
    });
    this.closed = new Promise((resolve) => {
      this.#markClosed = resolve;
    });
    this.#open().catch((error) => {
      this.fail(error);
      this.#markClosed();
    });
  }

  /** Ends it: the reader gets the error after what had come before it. */
  fail(error: unknown): void {
    this.reader.end({ error });
    this.#hangUp();
  }

  async #open(): Promise<void> {
    // Loaded by the first stream: a site that needs none does not wait for it at its start.
    const { WebSocket } = await import('ws');
    if (this.reader.isEnded) return this.#markClosed();
    const { address, timeoutMs } = this.#target;
    const socket = new WebSocket(address, {
      perMessageDeflate: false,
      maxPayload: maxPayloadBytes,
      followRedirects: false,
    });
    this.#socket = socket;
    // Not handshakeTimeout of ws: that one begins anew with every byte.
    this.#timer = setTimeout(() => this.fail(timedOut(timeoutMs)), timeoutMs);
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => this.fail(badStatus(statusCode)));
    socket.on('open', () => this.#begin(socket));
    socket.on('pong', () => {
      this.#awaitsPong = false;
    });
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on('error', (error) => this.fail(asStreamError(error)));
    socket.on('close', (code) => this.#onClose(code));
  }

  #begin(socket: WebSocket): void {
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#ping(), this.#target.pingMs).unref();
    socket.send(this.#request);
  }

  #ping(): void {
    // Of one that we do not listen to, nothing can be heard.
    if (this.#isPaused) return;
    if (this.#awaitsPong) {
      this.fail(unreachable('The sequencer does not answer a ping.'));
      return;
    }
    this.#awaitsPong = true;
    this.#socket?.ping();
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (this.reader.isEnded) return;
    try {
      if (!isBinary) throw new SequencerError('sequencer_bad_response', 'The stream brings text.');
      if (this.reader.push(openResponse(new Uint8Array(data)))) return;
      throw new SequencerError('sequencer_bad_response', 'The stream brings more than it was asked for.');
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
    this.reader.end(code === 1000 ? {} : { error: unreachable(`The stream broke off, with code ${code}.`) });
    this.#markClosed();
  }

  #hangUp(): void {
    const socket = this.#socket;
    if (!socket || socket.readyState === socket.CLOSED) return;
    clearTimeout(this.#timer);
    if (socket.readyState === socket.CONNECTING) {
      socket.terminate();
      return;
    }
    if (socket.readyState === socket.OPEN) {
      // The other side's goodbye is heard only by one who listens.
      socket.resume();
      socket.close(1000);
    }
    this.#timer = setTimeout(() => socket.terminate(), graceMs).unref();
  }
}
