import type { Dispatcher } from 'undici';
import type { Abortable } from '../../async/abort.js';
import { SequencerError } from '../../errors.js';
import { isEmptyEnvelope, openResponse } from '../../wire/envelope.js';
import { type AttemptBounds, noAnswer } from '../transport.js';

/** No answer of the interface comes near this. A larger one is a fault, and is cut before it is decoded. */
export const maxResponseBytes = 64 * 1024;

/**
 * Sends one request and opens the envelope of its answer.
 * @throws {SequencerError} for any other answer, and for none @throws the signal's reason
 */
export function sendCall(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  bounds: Partial<AttemptBounds>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (bounds.signal?.aborted) reject(bounds.signal.reason);
    else dispatcher.dispatch(request, new HttpCall(resolve, reject, bounds, request.origin));
  });
}

/**
 * One call: it runs until its answer, a fault, its timeout or its signal ends it; the first of these counts. A handler of
 * undici, whose `request` would make streams and signals of the same and cost half as much again.
 */
class HttpCall implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Uint8Array) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: Abortable | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #origin: unknown;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #refusal: SequencerError | undefined;
  /** Whether an answer without bytes is an envelope. */
  #mayBeEmpty = false;
  #isOver = false;

  constructor(
    resolve: (answer: Uint8Array) => void,
    reject: (reason: unknown) => void,
    { signal, timeoutMs }: Partial<AttemptBounds>,
    origin: unknown,
  ) {
    this.#origin = origin;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#leave(noAnswer(timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It ended while it waited for a connection. Nothing is sent.
    if (this.#isOver) controller.abort(new Error('The call is over.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // An interim response.
    if (statusCode < 200) return;
    this.#refusal = refusalOf(statusCode, headers);
    this.#mayBeEmpty = isEmptyEnvelope(statusCode, String(headers['content-type'] ?? '')) && hasLength(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The body of a refusal is read and dropped, so that the connection can be used again.
    if (!this.#refusal) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    try {
      if (this.#refusal) throw this.#refusal;
      const answer = new Uint8Array(Buffer.concat(this.#chunks));
      if (answer.length === 0 && !this.#mayBeEmpty) {
        throw new SequencerError('sequencer_bad_response', 'The answer is empty, and not marked as an envelope.');
      }
      this.#resolve(openResponse(answer));
    } catch (error) {
      this.#reject(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#end()) this.#reject(this.#refusal ?? asSequencerError(error, this.#origin));
  }

  readonly #onAbort = (): void => this.#leave(this.#signal?.reason);

  #leave(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason as Error);
  }

  /** Whether this ended the call: false if it was over before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Whether the end of the body is marked. If the end of the connection marks it, a cut looks the same. */
const hasLength = (headers: Dispatcher.ResponseData['headers']): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** The types of answers by a proxy on the way: its own pages, or messages of another protocol. */
const foreignType = /^\s*(?:text\/html|application\/(?:[\w.-]+\+)?(?:json|xml))\s*(?:;|$)/i;

/** Why an answer is not read at all. */
function refusalOf(statusCode: number, headers: Dispatcher.ResponseData['headers']): SequencerError | undefined {
  // Interface section 7.3: a status other than 2xx means that the request failed. Redirects are included.
  if (statusCode > 299) {
    return new SequencerError('sequencer_bad_status', `The sequencer answered with HTTP status ${statusCode}.`, {
      httpStatus: statusCode,
      retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
    });
  }
  if (foreignType.test(String(headers['content-type'] ?? ''))) {
    return new SequencerError('sequencer_bad_response', 'The content type of the answer is not that of an envelope.');
  }
  if (!/^\s*(?:identity\s*)?$/i.test(String(headers['content-encoding'] ?? ''))) {
    return new SequencerError('sequencer_bad_response', 'The answer is compressed, which the request did not allow.');
  }
  return undefined;
}

function asSequencerError(error: Error & { readonly code?: unknown }, origin: unknown): SequencerError {
  if (error.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const message = `The answer is over ${maxResponseBytes} bytes.`;
    return new SequencerError('sequencer_bad_response', message, { cause: error });
  }
  if (error.name === 'HTTPParserError') {
    return new SequencerError('sequencer_bad_response', 'The answer is not HTTP.', { cause: error });
  }
  return new SequencerError('sequencer_unreachable', `The sequencer at ${origin} cannot be reached.`, { cause: error });
}

/** The longest pause that a service can ask for. */
const longestRetryAfterMs = 3_600_000;

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a `Retry-After` header, seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now, at most an hour. */
export function parseRetryAfter(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, longestRetryAfterMs);
  const atMs = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(atMs - nowMs, 0), longestRetryAfterMs);
}
