import { AssertionError } from 'node:assert';
import type { StoredIntent } from './intent-store.js';
import type { SequencerState } from './sequencer-state.js';

const marks = {
  exists: () => true,
  code_scanned: ({ scanned }) => scanned,
  declined: ({ declined }) => declined,
  intent_submitted: ({ submitted }) => submitted,
} satisfies Record<string, (intent: StoredIntent) => boolean>;

/** What an intent can reach at the sequencer. A wallet that sent `declined` can still pay. */
export type IntentMark = keyof typeof marks;

/** Resolves once an intent has reached a mark. @throws {AssertionError} when it has not within `timeoutMs`, or the sequencer closes */
export async function waitUntil(
  { intents, closing }: SequencerState,
  id: string,
  mark: IntentMark,
  timeoutMs: number,
): Promise<void> {
  if (!Object.hasOwn(marks, mark)) {
    throw new TypeError(`There is no mark ${mark}. Use one of ${Object.keys(marks).join(', ')}.`);
  }
  const timeout = new AbortController();
  // The timer keeps the process alive: the test waits for the result.
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const signal = AbortSignal.any([timeout.signal, closing]);
  try {
    const intent = await intents.whenCreated(id, signal);
    while (intent && !marks[mark](intent) && !signal.aborted) await intent.mailbox.changed(signal);
    if (!intent || !marks[mark](intent)) throw notReached(id, mark, intent, closing.aborted ? undefined : timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

function notReached(
  id: string,
  mark: IntentMark,
  intent: StoredIntent | undefined,
  timeoutMs: number | undefined,
): AssertionError {
  const actual = intent && (Object.keys(marks) as IntentMark[]).filter((one) => marks[one](intent));
  const found = actual ? `has reached ${actual.join(', ')}` : 'is not known to the sequencer';
  const when = timeoutMs === undefined ? 'when the sequencer closed' : `after ${timeoutMs} ms`;
  const message = `The intent ${id} ${found} ${when}, and was expected to reach ${mark}.`;
  return new AssertionError({ message, actual, expected: mark, operator: 'waitFor' });
}
