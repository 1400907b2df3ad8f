import { timed } from './bounded.js';
import { tellHook } from './ledger-events.js';
import type { Payment } from './payment.js';
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

/** Calls a hook, for no longer than it may take, while whoever observes looks on. @throws as `timed` */
export function runHook<Value>(context: SettlementContext, run: HookRun, call: Call<Value>): Promise<Value> {
  const { observer, settings } = context;
  const { hook, payment, attempt = 1, lease } = run;
  const bounded = (): Promise<Value> => timed(lease, settings.hookTimeoutMs, call);
  return observer ? observer.hook({ hook, intent: payment.id, attempt }, bounded) : bounded();
}

/** The same for a hook with which nothing commits: its end is the whole story, and is told. @throws as `timed` */
export async function observedHook<Value>(context: SettlementContext, run: HookRun, call: Call<Value>): Promise<Value> {
  const calledAtMs = performance.now();
  try {
    const value = await runHook(context, run, call);
    tellHook(context, run, calledAtMs);
    return value;
  } catch (error) {
    if (!run.lease.aborted) tellHook(context, run, calledAtMs, { error });
    throw error;
  }
}
