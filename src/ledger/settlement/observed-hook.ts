import { timed } from '../../async/with-timeout.js';
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

/** Calls a hook with which nothing commits, and emits the event of its end. @throws as `timed` */
export async function observedHook<Value>(context: SettlementContext, run: HookRun, call: Call<Value>): Promise<Value> {
  const calledAtMs = performance.now();
  try {
    const value = await timed(run.lease, context.settings.hookTimeoutMs, call);
    tellHook(context, run, calledAtMs);
    return value;
  } catch (error) {
    if (!run.lease.aborted) tellHook(context, run, calledAtMs, { error });
    throw error;
  }
}
