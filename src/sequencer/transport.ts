import type { Abortable } from '../async/abort.js';
import type { Operation } from '../wire/envelope.js';

/** How one call may be bounded by its caller. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. An `AbortSignal`, or what can be listened to like one. */
  readonly signal?: Abortable | undefined;
  /**
   * From when it is aborted on nothing more is sent: a call that waits rejects with the signal's reason, one that was sent
   * goes on to its end, and is not repeated. For what may have an effect on behalf of somebody who may leave.
   */
  readonly sendUntil?: Abortable | undefined;
}

/** What goes with one try of a call. */
export interface TryOptions {
  /** Sent along beside the message: headers over HTTP, metadata over gRPC. Names are in lower case, such as `traceparent`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Ends the try early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How one try is bounded by a transport that keeps the time itself. */
export interface TryBounds {
  /** How long the try may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the try early, with its reason. What every signal has: some are no `AbortSignal`. */
  readonly signal: Abortable | undefined;
  /** As that of `TryOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * The seam between the operations and the way to the sequencer (interface sections 4.1 and 4.2).
 *
 * `call` takes a serialized inner message and gives the serialized inner answer. Whatever goes wrong on the way comes
 * out as a `SequencerError`. A transport sends a call once, and ends when its signal is aborted. The client does the rest
 * around it: time-outs, repeats, `sendUntil`, and leaving alone a service that fails.
 */
export interface Transport {
  /** Sends one call. @throws {SequencerError} `sequencer_...` for each way to fail */
  call(operation: Operation, body: Uint8Array, options?: TryOptions): Promise<Uint8Array>;
  /**
   * Like `call`, and ends by itself when its time is over, with `sequencer_timeout`. Where it is left out, `call` gets a
   * signal that is aborted then; and a signal for every call is dear: it costs as much as a call over HTTP.
   */
  callWithin?(operation: Operation, body: Uint8Array, bounds: TryBounds): Promise<Uint8Array>;
  /**
   * A call with many answers (interface section 4.5): yields the serialized inner answers until the service ends the
   * stream, and throws a `SequencerError` when the stream breaks. Leaving the loop closes it upstream. A transport
   * that has no streams leaves this out; the status is asked for instead.
   */
  openStream?(operation: Operation, body: Uint8Array, options?: TryOptions): AsyncIterable<Uint8Array>;
  /** Lets running calls end, then gives back what the transport holds. */
  close(): Promise<void>;
}

/** What makes calls with all that a caller may ask for. */
export interface Caller {
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}
