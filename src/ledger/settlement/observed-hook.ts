import { withTimeout } from '../../async/timeout.js';
import { tellHook } from '../ledger-events.js';
import type { Payment } from '../payment.js';
import type { SettlementContext } from './settlement-context.js';

/** One call of a hook. */
export interface HookRun {
  readonly hook: 'onPaid' | 'onReversed' | 'verifyPayment' | 'onDeadLetter';
  readonly payment: Payment;
  /** 1 for the first call, which is the default. */
  readonly attempt?: number;
  readonly lease: AbortSignal;
}

type Call<Value> = (signal: AbortSignal) => Value | Promise<Value>;

/** Calls a hook with which nothing commits, and emits the event of its end. @throws as `withTimeout` */
export async function observedHook<Value>(context: SettlementContext, run: HookRun, call: Call<Value>): Promise<Value> {
  const calledAtMs = performance.now();
  try {
    const value = await withTimeout(context.settings.hookTimeoutMs, call, { signal: run.lease });
    tellHook(context, run, calledAtMs);
    return value;
  } catch (error) {
    if (!run.lease.aborted) tellHook(context, run, calledAtMs, { error });
    throw error;
  }
}
