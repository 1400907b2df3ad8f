import { IntentError, SequencerError } from '../../errors.js';
import { type Operation, openResponse, operations } from '../../wire/envelope.js';
import { performFaultyCall, throwFault } from '../faults/faulty-call.js';
import { streamEnvelopes, streamFaultKinds } from '../faults/faulty-stream.js';
import { refusalOf, type TransportKind } from '../journal/journal-record.js';
import { dispatch } from '../operations/dispatch.js';
import { openRecordedStream } from '../operations/message-stream.js';
import { intentIdIn, type OperationRequest } from '../operations/request.js';
import type { SimulatorState } from '../state/simulator-state.js';

interface InProcessCallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The simulator without a socket: the option `transport` of a client or a router under test. */
export interface InProcessTransport {
  /** @throws {SequencerError} `sequencer_error` for a refused call, `sequencer_unreachable` if the simulator is closed */
  call(operation: Operation, body: Uint8Array, options?: InProcessCallOptions): Promise<Uint8Array>;
  /** Message streams (interface section 4.5). @throws {SequencerError} as `call`, on iteration */
  openStream(operation: Operation, body: Uint8Array, options?: InProcessCallOptions): AsyncIterable<Uint8Array>;
  /** Ends open streams. The transport stays usable, because clients can share it. */
  close(): Promise<void>;
}

/** @param simulatorClosing aborted when the simulator closes @param via the transport that the journal names */
export function inProcessTransport(
  state: SimulatorState,
  simulatorClosing: AbortSignal,
  via: TransportKind = 'in-process',
): InProcessTransport {
  let endingStreams = new AbortController();
  return Object.freeze({
    call: async (operation: Operation, body: Uint8Array, { signal }: InProcessCallOptions = {}) => {
      requireRunning(simulatorClosing, signal);
      // `AbortSignal.any` uses memory for as long as its sources exist, so it is created only if needed.
      const stop = signal ? AbortSignal.any([simulatorClosing, signal]) : simulatorClosing;
      const envelope = await perform(state, { ...operation, body }, via, stop);
      requireRunning(simulatorClosing, signal);
      return openResponse(envelope);
    },
    openStream: (operation: Operation, body: Uint8Array, { signal }: InProcessCallOptions = {}) =>
      readStream(state, {
        request: { ...operation, body },
        via,
        simulatorClosing,
        endingStreams: endingStreams.signal,
        signal,
      }),
    close: async () => {
      endingStreams.abort();
      endingStreams = new AbortController();
    },
  });
}

/** Performs a call, with its fault if there is one. @throws {SequencerError} for a fault that delivers no envelope */
function perform(
  state: SimulatorState,
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
  /** Aborted when the simulator closes. */
  readonly simulatorClosing: AbortSignal;
  /** Aborted by `close` of this transport. */
  readonly endingStreams: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

async function* readStream(
  state: SimulatorState,
  { request, via, simulatorClosing, endingStreams, signal }: StreamCall,
): AsyncGenerator<Uint8Array, void> {
  requireRunning(simulatorClosing, signal);
  const stop = AbortSignal.any([simulatorClosing, endingStreams, ...(signal ? [signal] : [])]);
  const fault = state.faults.consume(request, streamFaultKinds);
  if (fault) state.journal.recordFault(request, via, fault);
  if (fault && fault.kind !== 'cut') throwFault(fault);
  for await (const envelope of streamEnvelopes(open(state, request, via, stop), fault, stop)) {
    yield openResponse(envelope);
  }
  if (fault) throwFault(fault);
  requireRunning(simulatorClosing, signal);
  if (endingStreams.aborted)
    throw new SequencerError('sequencer_unreachable', 'The transport was closed. Open the stream again.');
}

function open(
  state: SimulatorState,
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
      'The sequencer refused the request. See `serviceMessage` for the reason.',
      {
        serviceMessage: refusalOf(error).message,
      },
    );
  }
}

function requireRunning(closed: AbortSignal, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  if (closed.aborted) throw new SequencerError('sequencer_unreachable', 'The simulator is closed. Start another one.');
}
