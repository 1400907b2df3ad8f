import { IntentError } from '../errors.js';
import type { RouterEventPayload } from '../telemetry/router-event.js';
import { errorText } from './database/error-text.js';
import type { DeadLetter } from './payment.js';
import type { Work } from './settlement/claimed-payment.js';
import type { HookRun } from './settlement/observed-hook.js';
import type { SettlementContext } from './settlement/settlement-context.js';

// What whoever observes is told of settling: always after it was written, so that nothing is told which was not.

type Context = Pick<SettlementContext, 'observer' | 'settings'>;

const maxErrorLength = 200;
const shortText = (error: unknown): string => errorText(error).slice(0, maxErrorLength);

/** The work is as it was written: submitted. */
export function tellSubmitted({ observer, settings }: Context, { payment, submittedAfterMs }: Work): void {
  if (!observer) return;
  const { id: intent } = payment;
  observer.emit({ type: 'intent_submitted', intent, kind: 'payment', way: 'ledger' });
  if (submittedAfterMs > settings.lateAfterMs) {
    observer.emit({ type: 'payment_late', intent, afterMs: Math.round(submittedAfterMs) });
  }
}

/** @param work as it was before the change: what was submitted has settled, and what had settled is reversed */
export function tellChange(context: Context, work: Work): void {
  if (work.state === 'settled') {
    tellReversed(context, work);
    return;
  }
  const { id: intent, amount, currency, submittedAt } = work.payment;
  const late = work.submittedAfterMs > context.settings.lateAfterMs;
  // The clock of the database may be a little ahead of this one.
  const lagMs = Math.max(0, Date.now() - submittedAt.getTime());
  context.observer?.emit({ type: 'payment_settled', intent, amount, currency, late, lagMs });
}

/** @param work as it was before the change */
export function tellReversed({ observer }: Context, { payment, state }: Work): void {
  const { id: intent, amount, currency } = payment;
  observer?.emit({ type: 'payment_reversed', intent, amount, currency, wasSettled: state === 'settled' });
}

/** @param failure undefined where the hook has succeeded */
export function tellHook(
  { observer }: Context,
  { hook, payment, attempt = 1 }: HookRun,
  calledAtMs: number,
  failure?: { readonly error: unknown },
): void {
  if (!observer) return;
  const call = { intent: payment.id, hook, attempt, ms: Math.round(performance.now() - calledAtMs) };
  if (failure) observer.emit({ type: 'hook_failed', ...call, error: shortText(failure.error) });
  else observer.emit({ type: 'hook_completed', ...call });
}

export function tellDeadLetter({ observer }: Context, letter: DeadLetter & { readonly intent: string }): void {
  observer?.emit({ type: 'dead_letter', ...letter, error: shortText(letter.error) });
}

export function unavailable(error: unknown): RouterEventPayload {
  return { type: 'ledger_unavailable', code: error instanceof IntentError ? error.code : 'internal_error' };
}
