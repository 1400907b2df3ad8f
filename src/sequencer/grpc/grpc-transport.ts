import { listenForAbort } from '../../async/abort.js';
import { requirePackage } from '../../async/optional-package.js';
import { SequencerError } from '../../errors.js';
import type { Operation } from '../../wire/envelope.js';
import { loadGrpcPackage } from '../../wire/grpc.js';
import { type AttemptOptions, noteOpenConnection, type Transport } from '../transport.js';
import { type GrpcCall, GrpcChannel } from './grpc-channel.js';
import { type GrpcNames, parseGrpcNames } from './grpc-names.js';
import { errorOfGrpcStatus, type GrpcStatus } from './grpc-status.js';

export interface GrpcTransportOptions extends GrpcNames {
  /** grpc_url of the service (interface section 4.2): with TLS for `https://host`, without for `http://host`. */
  readonly url: string;
  /** Timeout of a call, and of a stream until it is connected, in milliseconds: a whole number, 1 to 2^31 - 1. */
  readonly timeoutMs: number;
}

/**
 * Calls over gRPC. The OK is explicit in gRPC, so an answer without bytes is valid.
 * @throws {ConfigError} if `@grpc/grpc-js` is not installed @throws {IntentError} `invalid_configuration`
 */
export function createGrpcTransport(options: GrpcTransportOptions): Transport {
  requirePackage('@grpc/grpc-js');
  const calls = new GrpcCalls(options);
  return {
    call: (operation, body, options = {}) => calls.call(operation, body, options),
    openStream: (operation, body, { signal } = {}) => calls.openStream(operation, body, signal),
    close: () => calls.close(),
  };
}

class GrpcCalls {
  readonly #pathOf: (operation: Operation) => string;
  readonly #timeoutMs: number;
  readonly #loading: Promise<GrpcChannel>;
  readonly #calls = new Set<Promise<Uint8Array>>();
  readonly #streams = new Set<GrpcCall>();
  #isClosed = false;

  constructor({ url, timeoutMs, ...names }: GrpcTransportOptions) {
    this.#pathOf = parseGrpcNames(names);
    this.#timeoutMs = timeoutMs;
    this.#loading = loadGrpcPackage().then((grpc) => new GrpcChannel(grpc, url));
    // Each call reports the error.
    this.#loading.catch(() => undefined);
  }

  async call(operation: Operation, body: Uint8Array, options: AttemptOptions): Promise<Uint8Array> {
    const call = this.#callOnce(operation, body, options);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async *openStream(
    operation: Operation,
    body: Uint8Array,
    signal: AbortSignal | undefined,
  ): AsyncIterable<Uint8Array> {
    const channel = await this.#open(signal);
    const call = channel.start(this.#pathOf(operation), body);
    const connecting = setTimeout(requireConnection, this.#timeoutMs, call, this.#timeoutMs).unref();
    this.#streams.add(call);
    try {
      yield* this.#answersOf(call, signal);
    } finally {
      clearTimeout(connecting);
      this.#streams.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // A stream does not end otherwise.
    for (const { answers } of this.#streams) answers.cancel();
    await Promise.allSettled(this.#calls);
    (await this.#loading.catch(() => undefined))?.close();
  }

  async #callOnce(operation: Operation, body: Uint8Array, { signal, metadata }: AttemptOptions): Promise<Uint8Array> {
    const channel = await this.#open(signal);
    const call = channel.start(this.#pathOf(operation), body, { timeoutMs: this.#timeoutMs, metadata });
    let only: Uint8Array | undefined;
    for await (const answer of this.#answersOf(call, signal)) {
      if (only) throw badResponse('The sequencer sent more than one response.');
      only = answer;
    }
    if (!only) throw badResponse('The sequencer returned status OK without a response message.');
    return only;
  }

  async #open(signal: AbortSignal | undefined): Promise<GrpcChannel> {
    const channel = await this.#loading;
    signal?.throwIfAborted();
    if (this.#isClosed)
      throw new SequencerError(
        'sequencer_unreachable',
        'The call was not sent: the client is closed. Create a new client.',
      );
    return channel;
  }

  /** Leaving the loop ends the call. */
  async *#answersOf(call: GrpcCall, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
    const cancel = (): void => call.answers.cancel();
    const unlisten = listenForAbort([signal], cancel);
    try {
      yield* call.answers;
    } catch (status) {
      const error = signal?.aborted ? signal.reason : this.#errorOf(status);
      if (call.usesOpenConnection && isBrokenConnection(error, status)) noteOpenConnection(error);
      if (isConnectionFault(error) && !this.#isConnecting(call, error)) call.abandonConnection();
      throw error;
    } finally {
      unlisten();
      cancel();
    }
  }

  /** Whether the call timed out while its connection had been opening for less than `timeoutMs`. Later calls can use it. */
  #isConnecting({ connectingMs }: GrpcCall, error: unknown): boolean {
    const isTimeout = error instanceof SequencerError && error.code === 'sequencer_timeout';
    return isTimeout && connectingMs() < this.#timeoutMs;
  }

  #errorOf(status: unknown): SequencerError {
    return status instanceof SequencerError ? status : errorOfGrpcStatus(status as GrpcStatus, this.#timeoutMs);
  }
}

function requireConnection({ answers, hadConnection }: GrpcCall, timeoutMs: number): void {
  if (hadConnection()) return;
  const message = `The connection to the sequencer was not established within ${timeoutMs} ms. Check its URL and the firewall.`;
  answers.destroy(new SequencerError('sequencer_timeout', message));
}

function badResponse(problem: string): SequencerError {
  const fix = 'Check that grpcUrl points to the sequencer, and that grpcNames has the names of its operations.';
  return new SequencerError('sequencer_bad_response', `${problem} ${fix}`);
}

/** Whether a call ended with its connection. Since Node 22 the status is then that of a reset stream. */
function isBrokenConnection(error: unknown, status: unknown): error is SequencerError {
  const { details, metadata } = status as GrpcStatus;
  // The service itself may report that it is unavailable.
  const isOfServer = Object.keys(metadata?.getMap?.() ?? {}).length > 0;
  const isReset = /^Received RST_STREAM/.test(String(details));
  return error instanceof SequencerError && !isOfServer && (isReset || error.code === 'sequencer_unreachable');
}

/**
 * Whether the connection itself may be broken, and must not be reused. A canceled call says nothing about it. An answer
 * that is not gRPC is included: since Node 22 every call on a broken connection ends like this.
 */
function isConnectionFault(error: unknown): boolean {
  const { code = '' } = error instanceof SequencerError ? error : {};
  return ['sequencer_unreachable', 'sequencer_timeout', 'sequencer_bad_response'].includes(code);
}
