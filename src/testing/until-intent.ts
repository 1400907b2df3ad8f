import { AssertionError } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import type { IntentRecords, IntentState, LedgerIntent } from '../ledger/ledger.js';

/** How long is waited. */
export interface UntilOptions {
  /** How long it may take, in milliseconds. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

const pauseMs = 20;
/** From here an intent goes nowhere by itself. */
const ends: readonly IntentState[] = ['dead', 'expired', 'reversed'];

/**
 * Waits until the ledger of a router has an intent in a state, such as `settled`, which is when `onPaid` has succeeded; gives
 * the intent as it is then. The ledger is asked to look at it now: by itself it does so some seconds later.
 * @throws {AssertionError} when that takes longer than `timeoutMs`, or cannot come any more, with the state it is in and the
 * last error of its hooks
 * @throws {IntentError} `invalid_configuration` where the router has no ledger, `ledger_unavailable`
 */
export async function untilIntent(
  router: { readonly intents: Pick<IntentRecords, 'find' | 'look'> },
  id: string,
  state: IntentState,
  { timeoutMs = 5_000 }: UntilOptions = {},
): Promise<LedgerIntent> {
  const endMs = performance.now() + timeoutMs;
  await router.intents.look(id);
  for (;;) {
    const intent = await router.intents.find(id);
    if (intent?.state === state) return intent;
    if (!intent || ends.includes(intent.state)) throw notYet(id, state, intent);
    if (performance.now() > endMs) throw notYet(id, state, intent, timeoutMs);
    await wait(pauseMs);
  }
}

function notYet(id: string, state: IntentState, intent: LedgerIntent | undefined, afterMs?: number): AssertionError {
  const found = intent ? `is ${intent.state}` : 'is not in the ledger of this router';
  const after = afterMs === undefined ? '' : ` after ${afterMs} ms`;
  const message = `The intent ${id} ${found}${after}, and was to be ${state}.${intent ? reasonOf(intent) : ''}`;
  return new AssertionError({ message, actual: intent?.state, expected: state, operator: 'untilIntent' });
}

function reasonOf({ kind, state, attempts, lastError }: LedgerIntent): string {
  if (kind === 'login') return ' It is a login, which has no state but open: ask GET /session.';
  if (lastError) return ` Its hook has failed ${attempts} times: ${lastError}`;
  return state === 'open' ? ' The sequencer has not said that it is paid.' : '';
}
