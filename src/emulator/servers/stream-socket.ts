import type { WebSocket } from 'ws';
import { IntentError } from '../../errors.js';
import { decode, v1 } from '../../wire/codec.js';
import { encodeErrorResponse, operations } from '../../wire/envelope.js';
import type { SettledFault } from '../faults/fault.js';
import { spoilStream } from '../faults/spoil-stream.js';
import { notedStream } from '../journal/noted-stream.js';
import { refusalOf } from '../operations/refusal.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { envelopesOf } from './stream-envelopes.js';

/** For the request to come, and for a goodbye to be answered; in milliseconds. */
const requestTimeoutMs = 10_000;
const graceMs = 1_000;

const normalClosure = 1000;
const policyViolation = 1008;

/**
 * One WebSocket: a Request envelope comes in, which must be a signed openMessageStream, and Response envelopes go out. What
 * is refused is told by an ERROR envelope, and the socket is closed.
 */
export class StreamSocket {
  readonly #socket: WebSocket;
  readonly #state: SequencerState;
  readonly #fault: SettledFault | undefined;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout;
  #hasRequest = false;
  #awaitsPong = false;

  constructor(socket: WebSocket, state: SequencerState, fault?: SettledFault) {
    this.#socket = socket;
    this.#state = state;
    this.#fault = fault;
    this.#timer = setTimeout(() => this.#refuse('No request came.'), requestTimeoutMs).unref();
    socket.on('message', (data, isBinary) => void this.#take(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#awaitsPong = false;
    });
    // Too large, or not of this protocol: ws says so to the other side by itself.
    socket.on('error', () => this.#close(policyViolation));
    socket.on('close', () => {
      clearTimeout(this.#timer);
      this.#ending.abort();
    });
  }

  /** Whoever has not answered the last ping is gone. */
  ping(): void {
    if (this.#awaitsPong) this.cut();
    else this.#socket.ping();
    this.#awaitsPong = true;
  }

  cut(): void {
    this.#ending.abort();
    this.#socket.terminate();
  }

  async #take(data: Buffer, isBinary: boolean): Promise<void> {
    if (this.#ending.signal.aborted) return;
    if (this.#hasRequest) return this.#refuse('A stream takes one request.');
    this.#hasRequest = true;
    clearTimeout(this.#timer);
    try {
      if (!isBinary) throw new IntentError('malformed_message', 'An envelope comes in a binary frame.');
      const { signal } = this.#ending;
      const body = streamRequestIn(data);
      if (this.#fault) this.#state.journal.fault({ ...operations.openMessageStream, body }, 'websocket', this.#fault);
      const stream = notedStream(this.#state, body, signal, 'websocket');
      for await (const envelope of spoilStream(envelopesOf(stream), this.#fault, signal)) await this.#send(envelope);
      if (this.#fault?.kind === 'cut') this.cut();
      else this.#close(normalClosure);
    } catch (error) {
      this.#refuse(refusalOf(error).message);
    }
  }

  /** Resolves when it has been written out, so that no more lies in memory for a slow reader than one message. */
  #send(envelope: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(envelope, () => resolve());
    });
  }

  #refuse(reason: string): void {
    if (this.#ending.signal.aborted) return;
    this.#socket.send(encodeErrorResponse(reason), () => undefined);
    this.#close(policyViolation);
  }

  #close(code: number): void {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#socket.close(code);
    this.#timer = setTimeout(() => this.#socket.terminate(), graceMs).unref();
  }
}

/** @throws {IntentError} `malformed_message`, `not_supported` */
function streamRequestIn(data: Uint8Array): Uint8Array {
  const { service, method, body } = decode(v1.Request, data);
  const { openMessageStream: operation } = operations;
  if (service === operation.service && method === operation.method) return new Uint8Array(body);
  throw new IntentError('not_supported', 'Over WebSocket there is Messaging.openMessageStream and nothing else.');
}
