import type { Dispatcher } from 'undici';
import { SequencerError } from '../../errors.js';
import { ReceivedBytes } from '../../net/received-bytes.js';
import { emptyEnvelope, isEmptyEnvelope, openResponse, otherServerError } from '../../wire/envelope.js';
import {
  answerTimeoutError,
  httpStatusError,
  noteOpenConnection,
  type TimedAttemptOptions,
  unreachableError,
} from '../transport.js';

/** Answers of the interface are much smaller. A larger one is a fault, and is cut off before it is decoded. */
export const maxResponseBytes = 64 * 1024;

export const compressedResponse =
  'The response of the sequencer is compressed. Turn off compression there, and in every proxy in front of it.';

/** The connections that a call can use. */
export interface Connections {
  readonly dispatcher: Dispatcher;
  /** A call begins. @returns whether it gets a connection that is already open */
  begin(): boolean;
  end(): void;
  /** A connection broke that had been open. The others have probably been dropped too, so later calls open new ones. */
  abandon(): void;
}

/** Sends one request. @returns the inner message of the answer @throws {SequencerError} @throws the signal's reason */
export function sendCall(
  connections: Connections,
  request: Dispatcher.DispatchOptions,
  options: Partial<TimedAttemptOptions>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) reject(options.signal.reason);
    else connections.dispatcher.dispatch(request, new HttpCall(resolve, reject, options, request.origin, connections));
  });
}

/**
 * One call. It runs until the first of these ends it: its answer, a fault, its timeout or its signal. It is a handler
 * for `dispatch` of undici, because `request` creates streams and signals and costs 50% more.
 */
class HttpCall implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Uint8Array) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #origin: unknown;
  readonly #connections: Connections;
  readonly #hasOpenConnection: boolean;
  readonly #onAbort: (() => void) | undefined;
  readonly #answer = new ReceivedBytes();
  #controller: Dispatcher.DispatchController | undefined;
  #hasHead = false;
  #headError: SequencerError | undefined;
  /** Whether an answer without bytes is a valid envelope. */
  #mayBeEmpty = false;
  #hasEnded = false;

  constructor(
    resolve: (answer: Uint8Array) => void,
    reject: (reason: unknown) => void,
    { signal, timeoutMs }: Partial<TimedAttemptOptions>,
    origin: unknown,
    connections: Connections,
  ) {
    this.#origin = origin;
    this.#connections = connections;
    this.#hasOpenConnection = connections.begin();
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    if (timeoutMs !== undefined) this.#timer = setTimeout(HttpCall.#timeOut, timeoutMs, this, timeoutMs);
    if (!signal) return;
    this.#onAbort = () => this.#cancel(signal.reason);
    signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The call ended while it waited for a connection. Nothing is sent. `controller.abort` would also destroy the new connection.
    if (this.#hasEnded) throw new Error('The call has ended.');
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // An interim response, such as 103.
    if (statusCode < 200) return;
    this.#hasHead = true;
    this.#headError = errorOfHead(statusCode, headers);
    this.#mayBeEmpty = isEmptyEnvelope(statusCode, String(headers['content-type'] ?? '')) && isDelimited(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The body of a failed response is read and dropped, so that the connection can be reused.
    if (!this.#headError) this.#answer.append(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    try {
      if (this.#headError) throw this.#headError;
      const answer = this.#answer.length === 0 ? emptyEnvelope : this.#answer.bytes();
      if (answer.length === 0 && !this.#mayBeEmpty) {
        throw otherServerError('The response is empty and is not an envelope.');
      }
      this.#resolve(openResponse(answer));
    } catch (error) {
      this.#reject(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#end()) return;
    const failure = this.#headError ?? asSequencerError(error, this.#origin, this.#hasHead);
    if (failure.code === 'sequencer_unreachable' && this.#hasOpenConnection && !this.#hasHead) {
      noteOpenConnection(failure);
      this.#connections.abandon();
    }
    this.#reject(failure);
  }

  static #timeOut(call: HttpCall, timeoutMs: number): void {
    // The connection may have been dropped without a sign.
    if (call.#hasOpenConnection && !call.#hasHead) call.#connections.abandon();
    call.#cancel(answerTimeoutError(timeoutMs));
  }

  #cancel(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason as Error);
  }

  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#connections.end();
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Whether the headers delimit the body. Otherwise a truncated body cannot be detected. */
const isDelimited = (headers: Dispatcher.ResponseData['headers']): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** The error of an answer whose status or headers already rule it out. */
function errorOfHead(statusCode: number, headers: Dispatcher.ResponseData['headers']): SequencerError | undefined {
  // Interface section 7.3: any status except 2xx, including a redirect, means that the request failed.
  if (statusCode > 299) {
    return httpStatusError(statusCode, parseRetryAfter(headers['retry-after'], Date.now()));
  }
  if (!/^\s*(?:identity\s*)?$/i.test(String(headers['content-encoding'] ?? ''))) {
    return new SequencerError('sequencer_bad_response', compressedResponse);
  }
  return undefined;
}

/** undici rejects these informational responses, skips all others, and reports them only by the message of a `SocketError`. */
const rejectedInformational: ReadonlyMap<string, number> = new Map([
  ['bad response', 100],
  ['bad upgrade', 101],
]);

/** @param hasHead whether the head of the answer has arrived */
function asSequencerError(
  error: Error & { readonly code?: unknown },
  origin: unknown,
  hasHead: boolean,
): SequencerError {
  const informational = error.code === 'UND_ERR_SOCKET' ? rejectedInformational.get(error.message) : undefined;
  if (informational) {
    const message =
      `The sequencer, or a proxy in front of it, answered with the informational status ${informational} before the answer. The ` +
      'request does not ask for it, and the HTTP client does not accept it. Turn it off there.';
    return new SequencerError('sequencer_bad_response', message, { cause: error });
  }
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') {
    return otherServerError('The headers of the response are too large.', error);
  }
  if (error.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return otherServerError(`The response is larger than ${maxResponseBytes} bytes.`, error);
  }
  if (error.name === 'HTTPParserError') {
    return otherServerError('The response is not HTTP.', error);
  }
  if (hasHead) {
    const message =
      'The connection to the sequencer broke in the middle of its answer. See `cause`. If this happens often, look at the limits of the ' +
      'proxy in front of it.';
    return new SequencerError('sequencer_unreachable', message, { cause: error });
  }
  return unreachableError(error, origin);
}

const longestRetryAfterMs = 3_600_000;

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses `Retry-After`, seconds or a date (RFC 9110 section 10.2.3): milliseconds from now, at most an hour. */
export function parseRetryAfter(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, longestRetryAfterMs);
  const atMs = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(atMs - nowMs, 0), longestRetryAfterMs);
}
