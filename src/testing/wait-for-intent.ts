import { AssertionError } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from '../async/timeout.js';
import type { IntentRecords, IntentState, LedgerIntent } from '../ledger/ledger.js';
import { requireKnown } from '../reject-unknown.js';

/** Options of `waitForIntent`. */
export interface WaitForIntentOptions {
  /** Timeout in milliseconds. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

const pollMs = 20;
/** An intent leaves these states only by `retry` or, if expired or reversed, by a payment. */
const finalStates: readonly IntentState[] = ['dead', 'expired', 'reversed'];

/**
 * Waits until an intent in the ledger is in the state, such as `settled`, which follows the success of `onPaid`. A state that it
 * has left is not detected: a payment stays `submitted` only while `onPaid` fails. First rechecks the intent, which the ledger
 * would poll a few seconds later.
 * @throws {AssertionError} after `timeoutMs`; earlier if the intent is dead, expired, reversed or not in the ledger. The message has
 *   its current state and the last error of its hooks
 * @throws {IntentError} `invalid_configuration` if the router has no ledger, `invalid_request`, `ledger_unavailable`
 */
export async function waitForIntent(
  router: { readonly intents: Pick<IntentRecords, 'find' | 'recheck'> },
  id: string,
  state: IntentState,
  options: WaitForIntentOptions = {},
): Promise<LedgerIntent> {
  requireKnown('waitForIntent', options, ['timeoutMs']);
  const { timeoutMs = 5_000 } = options;
  const endMs = performance.now() + timeoutMs;
  // The recheck waits for the hook, which can run for longer than the timeout. `find` reports the same errors.
  await withTimeout(timeoutMs, () => router.intents.recheck(id)).catch(() => undefined);
  for (;;) {
    const intent = await router.intents.find(id);
    if (intent?.state === state) return intent;
    if (!intent || finalStates.includes(intent.state)) throw stateNotReached(id, state, intent);
    if (performance.now() > endMs) throw stateNotReached(id, state, intent, timeoutMs);
    await wait(pollMs);
  }
}

function stateNotReached(
  id: string,
  state: IntentState,
  intent: LedgerIntent | undefined,
  afterMs?: number,
): AssertionError {
  const within = afterMs === undefined ? '' : ` within ${afterMs} ms`;
  const found = intent ? `is${within && ' still'} ${intent.state}` : 'is not in the ledger of this router';
  const message = `Expected intent ${id} to be ${state}${within}. It ${found}.${intent ? reasonOf(intent) : ''}`;
  return new AssertionError({ message, actual: intent?.state, expected: state, operator: 'waitForIntent' });
}

function reasonOf({ kind, state, attempts, lastError }: LedgerIntent): string {
  if (kind === 'login') return ' It is a login, which becomes completed when its session starts.';
  // The last error can be that of a later poll, which counts no attempt.
  const failures = attempts > 0 ? ` Its hook failed ${attempts === 1 ? 'once' : `${attempts} times`}.` : '';
  if (lastError) return `${failures} Last error: ${lastError}`;
  return state === 'created' ? ' The sequencer has not reported the payment.' : '';
}
