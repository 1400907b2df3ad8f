import { AssertionError } from 'node:assert';
import type { IntentRecord } from './intent-store.js';
import type { SequencerState } from './sequencer-state.js';

const marks = {
  exists: () => true,
  code_scanned: ({ codeScanned }) => codeScanned,
  rejected: ({ rejected }) => rejected,
  intent_submitted: ({ submitted }) => submitted,
} satisfies Record<string, (record: IntentRecord) => boolean>;

/** What can become of an intent at the sequencer; `rejected` is what a wallet has said, and it can pay all the same. */
export type IntentMark = keyof typeof marks;

/** Resolves once an intent has come so far. @throws {AssertionError} when it has not within `timeoutMs`, or the sequencer ended */
export async function until(
  { intents, closing }: SequencerState,
  id: string,
  mark: IntentMark,
  timeoutMs: number,
): Promise<void> {
  if (!Object.hasOwn(marks, mark)) throw new TypeError(`There is ${Object.keys(marks).join(', ')}, and no ${mark}.`);
  const giveUp = new AbortController();
  // It holds the process: who waits for this waits for something.
  const timer = setTimeout(() => giveUp.abort(), timeoutMs);
  const signal = AbortSignal.any([giveUp.signal, closing]);
  try {
    const record = await intents.whenCreated(id, signal);
    while (record && !marks[mark](record) && !signal.aborted) await record.mailbox.changed(signal);
    if (!record || !marks[mark](record)) throw notSoFar(id, mark, record, closing.aborted ? undefined : timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

function notSoFar(
  id: string,
  mark: IntentMark,
  record: IntentRecord | undefined,
  timeoutMs: number | undefined,
): AssertionError {
  const actual = record && (Object.keys(marks) as IntentMark[]).filter((one) => marks[one](record));
  const found = actual ? `is ${actual.join(', ')}` : 'is not known to the sequencer';
  const when = timeoutMs === undefined ? 'when the sequencer ended' : `after ${timeoutMs} ms`;
  const message = `The intent ${id} ${found} ${when}, and was to be ${mark}.`;
  return new AssertionError({ message, actual, expected: mark, operator: 'until' });
}
