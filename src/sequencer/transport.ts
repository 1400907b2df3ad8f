import type { Abortable } from '../async/abort.js';
import { withTimeout } from '../async/timeout.js';
import { SequencerError } from '../errors.js';
import { requireKnown } from '../known-names.js';
import type { Operation } from '../wire/envelope.js';

/** How a caller may bound one call. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. An `AbortSignal`, or an object with the same events. */
  readonly signal?: Abortable | undefined;
  /**
   * Nothing is sent after its abort: a call that waits rejects with the signal's reason; a call that was sent runs to its end
   * and is not retried. For a call that acts for a client who may disconnect.
   */
  readonly cancelBeforeSend?: Abortable | undefined;
}

/** Rejects unknown options of a call. @param owner the function @throws {IntentError} `invalid_request` */
export function requireCallOptions(owner: string, options: CallOptions | undefined): void {
  requireKnown(owner, options, ['signal', 'cancelBeforeSend']);
}

/** The options of one try of a call. */
export interface AttemptOptions {
  /** Sent along with the message: headers over HTTP, metadata over gRPC. Names are in lower case, such as `traceparent`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Ends the try early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The bounds of one try, for a transport that keeps the time itself. */
export interface AttemptBounds {
  /** How long the try may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the try early, with its reason. Not always an `AbortSignal`. */
  readonly signal: Abortable | undefined;
  /** As in `AttemptOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * The seam between the operations and the way to the sequencer (interface sections 4.1 and 4.2).
 *
 * `call` takes a serialized inner message and returns the serialized inner answer. Every failure is a `SequencerError`. A
 * transport sends a call once and ends it when its signal is aborted. The client adds the rest: timeouts, retries,
 * `cancelBeforeSend`, and a circuit breaker.
 */
export interface Transport {
  /** Sends one call. @throws {SequencerError} `sequencer_...` for each way to fail */
  call(operation: Operation, body: Uint8Array, options?: AttemptOptions): Promise<Uint8Array>;
  /**
   * Like `call`, and ends with `sequencer_timeout` when its time is over. If a transport leaves it out, `call` gets a signal
   * that is aborted then. A signal for every call is expensive: it costs as much as a call over HTTP.
   */
  callWithin?(operation: Operation, body: Uint8Array, bounds: AttemptBounds): Promise<Uint8Array>;
  /**
   * A call with many answers (interface section 4.5): yields the serialized inner answers until the service ends the
   * stream, and throws a `SequencerError` when the stream breaks. Leaving the loop closes it upstream. A transport
   * without streams leaves this out; the client then polls the status instead.
   */
  openStream?(operation: Operation, body: Uint8Array, options?: AttemptOptions): AsyncIterable<Uint8Array>;
  /** Lets running calls end, then releases the connections. */
  close(): Promise<void>;
}

/** Makes calls with all options of a caller. */
export interface Caller {
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}

/**
 * Sends a call once, within its time, also over a transport that ignores its signal.
 * @throws {SequencerError} `sequencer_timeout` @throws what the transport throws
 */
export function callWithTimeout(
  transport: Transport,
  operation: Operation,
  body: Uint8Array,
  bounds: AttemptBounds,
): Promise<Uint8Array> {
  if (transport.callWithin) return transport.callWithin(operation, body, bounds);
  const { timeoutMs, signal, metadata } = bounds;
  const call = (ending: AbortSignal): Promise<Uint8Array> =>
    transport.call(operation, body, { signal: ending, ...(metadata && { metadata }) });
  return withTimeout(timeoutMs, call, { signal, error: () => noAnswer(timeoutMs), ref: true });
}

export function noAnswer(timeoutMs: number): SequencerError {
  const message = `The sequencer did not answer within ${Math.round(timeoutMs)} ms.`;
  return new SequencerError('sequencer_timeout', message);
}
