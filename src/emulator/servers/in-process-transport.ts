import { IntentError, SequencerError } from '../../errors.js';
import { type Operation, openResponse, operations } from '../../wire/envelope.js';
import { failInProcess, misbehaveInProcess } from '../faults/misbehave-in-process.js';
import { namedIntent } from '../faults/named-intent.js';
import { spoilStream, streamFaultKinds } from '../faults/spoil-stream.js';
import type { Via } from '../journal/happening.js';
import { notedStream } from '../journal/noted-stream.js';
import { dispatch } from '../operations/dispatch.js';
import { refusalOf } from '../operations/refusal.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { envelopesOf } from './stream-envelopes.js';

/** How one call may be bounded by its caller. */
interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A way to the embedded sequencer without any socket, for the option `transport` of a client or a router under test. */
export interface InProcessTransport {
  /** @throws {SequencerError} `sequencer_error` for what the sequencer refuses, `sequencer_unreachable` after its end */
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Message streams (interface section 4.5). @throws {SequencerError} as `call`, to its reader */
  openStream(operation: Operation, body: Uint8Array, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Ends the streams that were opened through it. It can be used again: a test may well make two clients of it. */
  close(): Promise<void>;
}

/**
 * @param ended is aborted when the sequencer ends
 * @param via how those who use it have come, for the journal
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
      // Every signal that is made of one which lasts leaves a little behind at it.
      const stop = signal ? AbortSignal.any([ended, signal]) : ended;
      const answer = await answerTo(state, { ...operation, body }, via, stop);
      requireRunning(ended, signal);
      return openResponse(answer);
    },
    openStream: (operation: Operation, body: Uint8Array, { signal }: CallOptions = {}) =>
      read(state, { operation, body, via, ended, closing: closing.signal, signal }),
    close: async () => {
      closing.abort();
      closing = new AbortController();
    },
  });
}

/** The envelope of the answer, which a fault may have spoilt. */
function answerTo(
  state: SequencerState,
  request: Operation & { readonly body: Uint8Array },
  via: Via,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const perform = () => dispatch(state, request, via);
  const fault = state.faults.take(request);
  if (!fault) return perform();
  state.journal.fault(request, via, fault);
  const forget = () => state.intents.forget(namedIntent(request));
  return misbehaveInProcess({ fault, perform, forget }, signal);
}

interface Reading {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly via: Via;
  readonly ended: AbortSignal;
  readonly closing: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

async function* read(
  state: SequencerState,
  { operation, body, via, ended, closing, signal }: Reading,
): AsyncGenerator<Uint8Array, void> {
  requireRunning(ended, signal);
  const stop = AbortSignal.any([ended, closing, ...(signal ? [signal] : [])]);
  const fault = state.faults.take(operation, streamFaultKinds);
  if (fault) state.journal.fault({ ...operation, body }, via, fault);
  if (fault && fault.kind !== 'cut') failInProcess(fault);
  const envelopes = spoilStream(open(state, { ...operation, body }, via, stop), fault, stop);
  for await (const envelope of envelopes) yield openResponse(envelope);
  if (fault) failInProcess(fault);
  requireRunning(AbortSignal.any([ended, closing]), signal);
}

function open(
  state: SequencerState,
  { service, method, body }: Operation & { readonly body: Uint8Array },
  via: Via,
  stop: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { openMessageStream: known } = operations;
  try {
    if (service !== known.service || method !== known.method) throw new IntentError('not_supported', 'No such stream.');
    return envelopesOf(notedStream(state, body, stop, via));
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
