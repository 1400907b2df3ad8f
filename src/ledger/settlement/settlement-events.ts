import { hookTimeoutError, withTimeout } from '../../async/timeout.js';
import { errorText } from '../../describe-error.js';
import type { DeadLetter, Payment } from '../payment.js';
import type { ClaimedPayment } from './claimed-payment.js';
import type { SettlementContext } from './settlement-context.js';

// The events of settlement. Changes are reported after their commit, so no event reports a change that did not happen.

type Context = Pick<SettlementContext, 'observer' | 'settings'>;

const maxErrorLength = 200;
const shortText = (error: unknown): string => errorText(error).slice(0, maxErrorLength);

/** @param claimed after the change */
export function emitSubmitted({ observer, settings }: Context, { payment, submittedAfterMs }: ClaimedPayment): void {
  if (!observer) return;
  const { id: intent } = payment;
  observer.emit({ type: 'intent_submitted', intent, kind: 'payment', source: 'ledger' });
  if (submittedAfterMs > settings.lateAfterMs) {
    observer.emit({ type: 'payment_late', intent, afterMs: Math.round(submittedAfterMs) });
  }
}

/** @param claimed before the change: a submitted payment has settled, a settled one is reversed */
export function emitSettledOrReversed(context: Context, claimed: ClaimedPayment): void {
  if (claimed.state === 'settled') {
    emitReversed(context, claimed);
    return;
  }
  const { id: intent, amount, currency, submittedAt } = claimed.payment;
  const late = claimed.submittedAfterMs > context.settings.lateAfterMs;
  // The clock of the database may be ahead of this one.
  const lagMs = Math.max(0, Date.now() - submittedAt.getTime());
  context.observer?.emit({ type: 'payment_settled', intent, amount, currency, late, lagMs });
}

/** @param claimed before the change */
export function emitReversed({ observer }: Context, { payment, state }: ClaimedPayment): void {
  const { id: intent, amount, currency } = payment;
  observer?.emit({ type: 'payment_reversed', intent, amount, currency, wasSettled: state === 'settled' });
}

export function emitDeadLetter({ observer }: Context, letter: DeadLetter & { readonly intent: string }): void {
  observer?.emit({ type: 'dead_letter', ...letter, error: shortText(letter.error) });
}

export interface ObservedHookCall {
  readonly hook: 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';
  readonly payment: Payment;
  /** Default 1, also for repeated calls of `verifyPayment`. */
  readonly attempt?: number;
  readonly leaseSignal: AbortSignal;
}

export function emitHook(
  { observer }: Context,
  { hook, payment, attempt = 1 }: ObservedHookCall,
  calledAtMs: number,
  failure?: { readonly error: unknown },
): void {
  if (!observer) return;
  const call = { intent: payment.id, hook, attempt, durationMs: Math.round(performance.now() - calledAtMs) };
  if (failure) observer.emit({ type: 'hook_failed', ...call, error: shortText(failure.error) });
  else observer.emit({ type: 'hook_completed', ...call });
}

/** Calls a hook that has no transaction, and emits its event. @throws as `withTimeout` */
export async function callObserved<Value>(
  context: SettlementContext,
  run: ObservedHookCall,
  call: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  const calledAtMs = performance.now();
  try {
    const { hookTimeoutMs } = context.settings;
    const error = hookTimeoutError(run.hook, hookTimeoutMs, true);
    const value = await withTimeout(hookTimeoutMs, call, { signal: run.leaseSignal, error });
    emitHook(context, run, calledAtMs);
    return value;
  } catch (error) {
    if (!run.leaseSignal.aborted) emitHook(context, run, calledAtMs, { error });
    throw error;
  }
}
