import type { Operation } from '../../wire/envelope.js';
import { operations } from '../../wire/envelope.js';
import { openMessageStream } from '../operations/open-message-stream.js';
import { refusalOf } from '../operations/refusal.js';
import type { SequencerState } from '../state/sequencer-state.js';
import type { Via } from './happening.js';

/** As `openMessageStream`, and the journal is told what was opened, what went out, and how it ended. */
export function notedStream(
  state: SequencerState,
  body: Uint8Array,
  signal: AbortSignal,
  via: Via,
): AsyncGenerator<Uint8Array, void> {
  const { journal } = state;
  const request: Operation & { body: Uint8Array } = { ...operations.openMessageStream, body };
  const began = journal.begin();
  // Where no intent is yet, there will be one soon.
  const id = journal.idOf(request);
  const opened = { kind: 'stream', via, request: journal.keep(body) } as const;
  try {
    const stream = openMessageStream(state, body, signal);
    journal.note(id, { ...opened, refusal: undefined }, began);
    return noteDeliveries(state, request, stream, via, signal);
  } catch (error) {
    journal.note(id, { ...opened, refusal: refusalOf(error) }, began);
    throw error;
  }
}

async function* noteDeliveries(
  { journal }: SequencerState,
  request: Operation & { body: Uint8Array },
  stream: AsyncGenerator<Uint8Array, void>,
  via: Via,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let reason: 'done' | 'left' = 'left';
  try {
    for await (const message of stream) {
      journal.note(journal.idOf(request), { kind: 'delivery', via, message: journal.keep(message) });
      yield message;
    }
    if (!signal.aborted) reason = 'done';
  } finally {
    journal.note(journal.idOf(request), { kind: 'stream-end', via, reason });
  }
}
