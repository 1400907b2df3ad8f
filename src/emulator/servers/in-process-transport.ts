import { IntentError, SequencerError } from '../../errors.js';
import { type Operation, openResponse, operations } from '../../wire/envelope.js';
import { performFaultyCall, throwFault } from '../faults/faulty-call.js';
import { streamEnvelopes, streamFaultKinds } from '../faults/faulty-stream.js';
import { refusalOf, type TransportKind } from '../journal/journal-record.js';
import { dispatch } from '../operations/dispatch.js';
import { openRecordedStream } from '../operations/message-stream.js';
import { intentIdIn, type OperationRequest } from '../operations/request.js';
import type { SequencerState } from '../state/sequencer-state.js';

interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The embedded sequencer without a socket: the option `transport` of a client or a router under test. */
export interface InProcessTransport {
  /** @throws {SequencerError} `sequencer_error` for a refused call, `sequencer_unreachable` if the sequencer is closed */
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Message streams (interface section 4.5). @throws {SequencerError} as `call`, on iteration */
  openStream(operation: Operation, body: Uint8Array, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Ends open streams. The transport stays usable, because clients can share it. */
  close(): Promise<void>;
}

/** @param closed aborted when the sequencer closes @param via the transport that the journal names */
export function inProcessTransport(
  state: SequencerState,
  closed: AbortSignal,
  via: TransportKind = 'in-process',
): InProcessTransport {
  let closing = new AbortController();
  return Object.freeze({
    call: async (operation: Operation, body: Uint8Array, { signal }: CallOptions = {}) => {
      requireRunning(closed, signal);
      // `AbortSignal.any` uses memory for as long as its sources exist, so it is created only if needed.
      const stop = signal ? AbortSignal.any([closed, signal]) : closed;
      const envelope = await perform(state, { ...operation, body }, via, stop);
      requireRunning(closed, signal);
      return openResponse(envelope);
    },
    openStream: (operation: Operation, body: Uint8Array, { signal }: CallOptions = {}) =>
      readStream(state, { request: { ...operation, body }, via, closed, closing: closing.signal, signal }),
    close: async () => {
      closing.abort();
      closing = new AbortController();
    },
  });
}

/** Performs a call, with its fault if there is one. @throws {SequencerError} for a fault that delivers no envelope */
function perform(
  state: SequencerState,
  request: OperationRequest,
  via: TransportKind,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const fault = state.faults.consume(request);
  if (!fault) return dispatch(state, request, via);
  state.journal.recordFault(request, via, fault);
  const forget = () => state.intents.forget(intentIdIn(request));
  return performFaultyCall({ fault, perform: () => dispatch(state, request, via), forget, signal });
}

interface StreamCall {
  readonly request: OperationRequest;
  readonly via: TransportKind;
  readonly closed: AbortSignal;
  readonly closing: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

async function* readStream(
  state: SequencerState,
  { request, via, closed, closing, signal }: StreamCall,
): AsyncGenerator<Uint8Array, void> {
  requireRunning(closed, signal);
  const stop = AbortSignal.any([closed, closing, ...(signal ? [signal] : [])]);
  const fault = state.faults.consume(request, streamFaultKinds);
  if (fault) state.journal.recordFault(request, via, fault);
  if (fault && fault.kind !== 'cut') throwFault(fault);
  for await (const envelope of streamEnvelopes(open(state, request, via, stop), fault, stop)) {
    yield openResponse(envelope);
  }
  if (fault) throwFault(fault);
  requireRunning(AbortSignal.any([closed, closing]), signal);
}

function open(
  state: SequencerState,
  { service, method, body }: OperationRequest,
  via: TransportKind,
  stop: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { openMessageStream: operation } = operations;
  try {
    if (service === operation.service && method === operation.method) {
      return openRecordedStream(state, body, stop, via);
    }
    throw new IntentError('not_supported', 'Unknown service or method.');
  } catch (error) {
    throw new SequencerError(
      'sequencer_error',
      'The payment service refused the request. See `serviceMessage` for the reason.',
      {
        serviceMessage: refusalOf(error).message,
      },
    );
  }
}

function requireRunning(closed: AbortSignal, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  if (closed.aborted)
    throw new SequencerError('sequencer_unreachable', 'The embedded sequencer is closed. Start another one.');
}
