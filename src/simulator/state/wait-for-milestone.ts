import { AssertionError } from 'node:assert';
import type { StoredIntent } from './intent-store.js';
import type { SimulatorState } from './simulator-state.js';

/** A milestone of an intent. A declined intent can still be submitted. */
export type IntentMilestone = 'created' | 'scanned' | 'declined' | 'submitted';

const milestones: Readonly<Record<IntentMilestone, (intent: StoredIntent) => boolean>> = {
  created: () => true,
  scanned: ({ scanned }) => scanned,
  declined: ({ declined }) => declined,
  submitted: ({ submitted }) => submitted,
};

/** Resolves once an intent reaches a milestone. @throws {AssertionError} after `timeoutMs`, or when the simulator closes */
export async function waitForMilestone(
  { intents, closing }: SimulatorState,
  id: string,
  milestone: IntentMilestone,
  timeoutMs: number,
): Promise<void> {
  if (!Object.hasOwn(milestones, milestone)) {
    throw new TypeError(`Unknown milestone ${milestone}. Use one of ${Object.keys(milestones).join(', ')}.`);
  }
  const timeout = new AbortController();
  // The timer keeps the process alive, because the test awaits the result.
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const signal = AbortSignal.any([timeout.signal, closing]);
  try {
    const intent = await intents.whenCreated(id, signal);
    while (intent && !milestones[milestone](intent) && !signal.aborted) await intent.mailbox.changed(signal);
    if (!intent || !milestones[milestone](intent))
      throw notReached(id, milestone, intent, closing.aborted ? undefined : timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

function notReached(
  id: string,
  milestone: IntentMilestone,
  intent: StoredIntent | undefined,
  timeoutMs: number | undefined,
): AssertionError {
  const actual = intent && (Object.keys(milestones) as IntentMilestone[]).filter((name) => milestones[name](intent));
  const found = actual ? `It reached: ${actual.join(', ')}.` : 'It does not exist at the simulator.';
  const when = timeoutMs === undefined ? 'before the simulator closed' : `within ${timeoutMs} ms`;
  const message = `The intent ${id} did not reach ${milestone} ${when}. ${found}`;
  return new AssertionError({ message, actual, expected: milestone, operator: 'waitFor' });
}
