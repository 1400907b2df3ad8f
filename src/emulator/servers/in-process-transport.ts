import { IntentError, SequencerError } from '../../errors.js';
import { type Operation, openResponse, operations } from '../../wire/envelope.js';
import { failInProcess, throwFault } from '../faults/faulty-call.js';
import { streamEnvelopes, streamFaultKinds } from '../faults/faulty-stream.js';
import { refusalOf, type Via } from '../journal/journal-record.js';
import { dispatch } from '../operations/dispatch.js';
import { openRecordedStream } from '../operations/message-stream.js';
import { intentIdIn, type OperationRequest } from '../operations/request.js';
import type { SequencerState } from '../state/sequencer-state.js';

/** How a caller can end one call. */
interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The embedded sequencer without a socket: the option `transport` of a client or a router under test. */
export interface InProcessTransport {
  /** @throws {SequencerError} `sequencer_error` for a refused call, `sequencer_unreachable` after the sequencer has closed */
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Message streams (interface section 4.5). @throws {SequencerError} as `call`, on iteration */
  openStream(operation: Operation, body: Uint8Array, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Ends its open streams. It can be used again: a test may make two clients of one transport. */
  close(): Promise<void>;
}

/**
 * @param ended aborted when the sequencer closes
 * @param via the transport that the journal names
 */
export function inProcessTransport(
  state: SequencerState,
  ended: AbortSignal,
  via: Via = 'in-process',
): InProcessTransport {
  let closing = new AbortController();
  return Object.freeze({
    call: async (operation: Operation, body: Uint8Array, { signal }: CallOptions = {}) => {
      requireRunning(ended, signal);
      // `AbortSignal.any` leaves a little memory at a long-lived signal, so it is used only where it is needed.
      const stop = signal ? AbortSignal.any([ended, signal]) : ended;
      const envelope = await answer(state, { ...operation, body }, via, stop);
      requireRunning(ended, signal);
      return openResponse(envelope);
    },
    openStream: (operation: Operation, body: Uint8Array, { signal }: CallOptions = {}) =>
      read(state, { request: { ...operation, body }, via, ended, closing: closing.signal, signal }),
    close: async () => {
      closing.abort();
      closing = new AbortController();
    },
  });
}

/** The envelope of the response, corrupted where a fault does that. @throws {SequencerError} of a fault */
function answer(state: SequencerState, request: OperationRequest, via: Via, signal: AbortSignal): Promise<Uint8Array> {
  const perform = () => dispatch(state, request, via);
  const fault = state.faults.take(request);
  if (!fault) return perform();
  state.journal.recordFault(request, via, fault);
  const forget = () => state.intents.forget(intentIdIn(request));
  return failInProcess({ fault, perform, forget, signal });
}

interface Reading {
  readonly request: OperationRequest;
  readonly via: Via;
  readonly ended: AbortSignal;
  readonly closing: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

async function* read(
  state: SequencerState,
  { request, via, ended, closing, signal }: Reading,
): AsyncGenerator<Uint8Array, void> {
  requireRunning(ended, signal);
  const stop = AbortSignal.any([ended, closing, ...(signal ? [signal] : [])]);
  const fault = state.faults.take(request, streamFaultKinds);
  if (fault) state.journal.recordFault(request, via, fault);
  if (fault && fault.kind !== 'cut') throwFault(fault);
  for await (const envelope of streamEnvelopes(open(state, request, via, stop), fault, stop)) {
    yield openResponse(envelope);
  }
  if (fault) throwFault(fault);
  requireRunning(AbortSignal.any([ended, closing]), signal);
}

function open(
  state: SequencerState,
  { service, method, body }: OperationRequest,
  via: Via,
  stop: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { openMessageStream: operation } = operations;
  try {
    if (service === operation.service && method === operation.method) {
      return openRecordedStream(state, body, stop, via);
    }
    throw new IntentError('not_supported', 'No such stream.');
  } catch (error) {
    throw new SequencerError('sequencer_error', 'The sequencer answered ERROR.', {
      serviceMessage: refusalOf(error).message,
    });
  }
}

function requireRunning(ended: AbortSignal, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  if (ended.aborted) throw new SequencerError('sequencer_unreachable', 'The embedded sequencer has ended.');
}
