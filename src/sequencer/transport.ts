import type { AbortSignalLike } from '../async/abort.js';
import { withTimeout } from '../async/timeout.js';
import { SequencerError } from '../errors.js';
import { requireKnown } from '../reject-unknown.js';
import type { Operation } from '../wire/envelope.js';

/** How a caller can cancel a call. */
export interface CallOptions {
  /** Ends the call early, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Once it is aborted, nothing more is sent. A waiting call rejects with the signal's reason. A call that was already
   * sent runs to its end and is not retried. For a call on behalf of a client that may disconnect.
   */
  readonly cancelBeforeSend?: AbortSignal | undefined;
}

/** A transport never gets this signal, so it needs only the members that the client uses. */
export function cancelBeforeSend(signal: AbortSignalLike): CallOptions {
  return { cancelBeforeSend: signal as AbortSignal };
}

/** Rejects unknown options of a call. @param owner the function @throws {IntentError} `invalid_request` */
export function requireCallOptions(owner: string, options: CallOptions | undefined): void {
  requireKnown(owner, options, ['signal', 'cancelBeforeSend']);
}

/** The options of one attempt of a call. */
export interface AttemptOptions {
  /** Headers over HTTP, metadata over gRPC. Names are in lower case, such as `traceparent`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Ends the attempt early. It then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of one attempt, for a transport that implements the timeout itself. */
export interface TimedAttemptOptions {
  /** Timeout of the attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the attempt early, with its reason. */
  readonly signal: AbortSignal | undefined;
  /** As in `AttemptOptions`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Sends operations to the sequencer (interface sections 4.1 and 4.2).
 *
 * `call` takes a serialized inner message and returns the serialized inner response. Every failure is a `SequencerError`,
 * except an abort, which rejects with the signal's reason.
 * A transport sends a call once, and ends it when its signal is aborted. The client adds timeouts, retries,
 * `cancelBeforeSend` and a circuit breaker.
 */
export interface Transport {
  /** Sends one call. @throws {SequencerError} for every failure @throws the signal's reason */
  call(operation: Operation, body: Uint8Array, options?: AttemptOptions): Promise<Uint8Array>;
  /**
   * Optional. Like `call`, but it implements the timeout itself and fails with `sequencer_timeout`. Without it, `call`
   * gets an `AbortSignal` that is aborted at the timeout. Creating one costs as much CPU as a call over HTTP.
   */
  callWithTimeout?(operation: Operation, body: Uint8Array, options: TimedAttemptOptions): Promise<Uint8Array>;
  /**
   * Optional. A streaming call (interface section 4.5). Yields the serialized inner responses until the service
   * ends the stream. Throws a `SequencerError` if the stream breaks. Leaving the loop closes the stream upstream.
   * Without this method, the client polls the status.
   */
  openStream?(operation: Operation, body: Uint8Array, options?: AttemptOptions): AsyncIterable<Uint8Array>;
  /** Waits for running calls, then releases the connections. */
  close(): Promise<void>;
}

/** What a call needs: a `ResilientTransport`, or any `Transport`, which sends each call once and ignores `cancelBeforeSend`. */
export interface CallTransport {
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}

/** Sends a call once. Its timeout holds even if `call` ignores the signal. @throws what the transport throws */
export function callWithTimeout(
  transport: Transport,
  operation: Operation,
  body: Uint8Array,
  options: TimedAttemptOptions,
): Promise<Uint8Array> {
  if (transport.callWithTimeout) return transport.callWithTimeout(operation, body, options);
  const { timeoutMs, signal, metadata } = options;
  const call = (ending: AbortSignal): Promise<Uint8Array> =>
    transport.call(operation, body, { signal: ending, ...(metadata && { metadata }) });
  return withTimeout(timeoutMs, call, { signal, error: () => answerTimeoutError(timeoutMs), ref: true });
}

export function answerTimeoutError(timeoutMs: number, cause?: unknown): SequencerError {
  const fix = 'Check its URL and the firewall. If the service is only slow, raise timeoutMs.';
  const message = `The sequencer did not answer within ${Math.round(timeoutMs)} ms. ${fix}`;
  return new SequencerError('sequencer_timeout', message, { cause });
}

/** The sequencer cannot be reached. @param origin of the service, if known */
export function unreachableError(cause: unknown, origin?: unknown): SequencerError {
  const where = origin === undefined ? '' : ` at ${origin}`;
  const message = `The sequencer${where} cannot be reached. See \`cause\`. Check its URL, DNS, TLS certificate and the firewall.`;
  return new SequencerError('sequencer_unreachable', message, { cause });
}

/** Errors of calls whose connection had been open before, and broke before any answer. */
const ofOpenConnections = new WeakSet<Error>();

/** Notes that the connection of a failed call had been open before. It may have been dropped long ago, without a sign. */
export function noteOpenConnection(error: Error): void {
  ofOpenConnections.add(error);
}

/** Whether a call failed because its connection broke, and that says nothing about new connections. */
export const brokeOpenConnection = (error: unknown): boolean => error instanceof Error && ofOpenConnections.has(error);

export function httpStatusError(httpStatus: number, retryAfterMs?: number): SequencerError {
  let fix = 'Check its URL.';
  if (httpStatus === 429 || httpStatus >= 500) fix = 'Retry later.';
  if (httpStatus === 401 || httpStatus === 403) fix = 'Ask the operator of the sequencer to allow this site.';
  const message = `The sequencer answered with HTTP status ${httpStatus}. ${fix}`;
  return new SequencerError('sequencer_bad_status', message, { httpStatus, retryAfterMs });
}
