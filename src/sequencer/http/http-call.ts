import type { Dispatcher } from 'undici';
import type { Abortable } from '../../async/abort.js';
import { SequencerError } from '../../errors.js';
import { isEmptyEnvelope, openResponse } from '../../wire/envelope.js';
import { noAnswer, type TryBounds } from '../transport.js';
import { parseRetryAfter } from './retry-after.js';

/** No answer of the interface comes near this; more is a fault, and is cut before it is decoded. */
export const maxResponseBytes = 64 * 1024;

/**
 * Sends one request and opens the envelope that is its answer.
 * @throws {SequencerError} for every other answer, and for none @throws the signal's reason
 */
export function sendCall(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  bounds: Partial<TryBounds>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (bounds.signal?.aborted) reject(bounds.signal.reason);
    else dispatcher.dispatch(request, new HttpCall(resolve, reject, bounds, request.origin));
  });
}

/** What undici tells of one call. Its `request` makes streams and signals of the same, for half as much again. */
class HttpCall implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Uint8Array) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: Abortable | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #origin: unknown;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #refusal: SequencerError | undefined;
  /** Whether an answer without bytes is a whole envelope. */
  #mayBeEmpty = false;
  #isOver = false;

  constructor(
    resolve: (answer: Uint8Array) => void,
    reject: (reason: unknown) => void,
    { signal, timeoutMs }: Partial<TryBounds>,
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
    // It waited for a connection, and nobody for it any more: nothing is sent.
    if (this.#isOver) controller.abort(new Error('The call is over.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // Before the answer there may be interim ones.
    if (statusCode < 200) return;
    this.#refusal = refusalOf(statusCode, headers);
    this.#mayBeEmpty = isEmptyEnvelope(statusCode, String(headers['content-type'] ?? '')) && hasLength(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The connection is of use again only once the body of a refusal is out of the way.
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

  /** Whether it was not over before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** Whether the end of the body is marked. Where the end of the connection is the end of the body, a cut looks the same. */
const hasLength = (headers: Dispatcher.ResponseData['headers']): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** What a proxy on the way says in place of the service: its own pages, or messages of another protocol. */
const foreignType = /^\s*(?:text\/html|application\/(?:[\w.-]+\+)?(?:json|xml))\s*(?:;|$)/i;

/** What makes an answer one that is not even read. */
function refusalOf(statusCode: number, headers: Dispatcher.ResponseData['headers']): SequencerError | undefined {
  // Interface section 7.3: a status other than 2xx means that the request failed. A redirect is one of these.
  if (statusCode > 299) {
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
