import { AssertionError } from 'node:assert';
import type { StoredIntent } from './intent-store.js';
import type { SequencerState } from './sequencer-state.js';

/** A mark that an intent can reach. After `declined` a wallet can still pay. */
export type IntentMark = 'exists' | 'code_scanned' | 'declined' | 'intent_submitted';

const marks: Readonly<Record<IntentMark, (intent: StoredIntent) => boolean>> = {
  exists: () => true,
  code_scanned: ({ scanned }) => scanned,
  declined: ({ declined }) => declined,
  intent_submitted: ({ submitted }) => submitted,
};

/** Resolves once an intent reaches a mark. @throws {AssertionError} after `timeoutMs`, or when the sequencer closes */
export async function waitForMark(
  { intents, closing }: SequencerState,
  id: string,
  mark: IntentMark,
  timeoutMs: number,
): Promise<void> {
  if (!Object.hasOwn(marks, mark)) {
    throw new TypeError(`Unknown mark ${mark}. Use one of ${Object.keys(marks).join(', ')}.`);
  }
  const timeout = new AbortController();
  // The timer keeps the process alive, because the test awaits the result.
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
  const actual = intent && (Object.keys(marks) as IntentMark[]).filter((name) => marks[name](intent));
  const found = actual ? `It reached: ${actual.join(', ')}.` : 'It does not exist at the embedded sequencer.';
  const when = timeoutMs === undefined ? 'before the embedded sequencer closed' : `within ${timeoutMs} ms`;
  const message = `The intent ${id} did not reach ${mark} ${when}. ${found}`;
  return new AssertionError({ message, actual, expected: mark, operator: 'waitFor' });
}
