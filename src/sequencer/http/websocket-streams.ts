import { listenForAbort } from '../../async/abort.js';
import { encodeRequest, type Operation } from '../../wire/envelope.js';
import type { TryOptions } from '../transport.js';
import { unreachable } from './websocket-error.js';
import { WebSocketStream, type WebSocketTarget } from './websocket-stream.js';

/** The streams of one transport that are open: its way to open them, and to end them all. */
export class WebSocketStreams {
  readonly #target: WebSocketTarget;
  readonly #streams = new Set<WebSocketStream>();
  #isClosed = false;

  constructor(target: WebSocketTarget) {
    this.#target = target;
  }

  /** Each reader has a socket of its own, which is opened when it begins to read. */
  open(operation: Operation, body: Uint8Array, { signal }: TryOptions = {}): AsyncIterable<Uint8Array> {
    const request = encodeRequest(operation, body, this.#target.envelopeVersion);
    return { [Symbol.asyncIterator]: () => this.#connect(request, signal).reader };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const streams = [...this.#streams];
    for (const stream of streams) stream.fail(closed());
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
    else if (this.#isClosed) stream.fail(closed());
    return stream;
  }
}

const closed = () => unreachable('The way to the sequencer is closed.');
