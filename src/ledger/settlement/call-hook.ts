import { exponentialBackoffMs } from '../../async/backoff.js';
import { withTimeout } from '../../async/timeout.js';
import { type DatabaseTransaction, TransactionNotBegun } from '../database/database.js';
import { TransactionEndedWithin } from '../database/transaction-scope.js';
import type { Payment, PaymentHookContext } from '../payment.js';
import { type ClaimedPayment, endClaim, LeaseLost, updateClaimed } from './claimed-payment.js';
import { errorDetails, errorText } from './error-text.js';
import { type Lane, laneAfterFailure } from './hook-lanes.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';
import { emitChange, emitDeadLetter, emitHook, observedHook } from './settlement-events.js';

type Hook = (payment: Payment, context: PaymentHookContext) => void | Promise<void>;

/** A hook whose effects commit together with a change of the state. */
export interface HookCall {
  readonly name: 'onPaid' | 'onReversed';
  /** Undefined where the site has none: then the state changes without a call. */
  readonly hook: Hook | undefined;
  /** Decides whether the hook is called now. Before it answers false, it writes when the payment is processed next. */
  readonly check?: ((claimed: ClaimedPayment) => Promise<boolean>) | undefined;
  /** The change of the row, as `updateClaimed` takes it. */
  readonly changes: string;
  readonly values: readonly unknown[];
}

/**
 * Calls a hook in the lane of its payment and changes the state, or neither of them. The change is the last statement before
 * the commit and needs the claim, so of two processes only one commits.
 */
export async function callHook(
  context: WorkContext,
  claimed: ClaimedPayment,
  call: HookCall,
  lease: AbortSignal,
): Promise<void> {
  const { lanes } = context;
  const { check, hook } = call;
  const begin = async (): Promise<ClaimedPayment> => {
    const run = claimed.lane === 'alone' ? 'alone' : 'together';
    const begun = await updateClaimed(context.db, claimed, 'hook_run = $4', [run]);
    return { ...begun, payment: claimed.payment };
  };
  const passesCheck = async (): Promise<boolean> => !check || check(await begin());
  const finish = async (): Promise<void> => {
    if (hook) return callInTransaction(context, await begin(), { ...call, hook }, lease);
    await updateClaimed(context.db, claimed, call.changes, call.values);
    emitChange(context, claimed);
  };
  if (claimed.lane === 'alone') {
    return lanes.run('alone', lease, async () => {
      if (await passesCheck()) await finish();
    });
  }
  if (check && !(await lanes.run('verify', lease, passesCheck))) return;
  await (hook ? lanes.run(claimed.lane, lease, finish) : finish());
}

/** Continues with a payment during whose hook a process ended, by the rules in `hook-lanes.ts`. */
export async function handleInterrupted(
  context: WorkContext,
  claimed: ClaimedPayment,
  lease: AbortSignal,
): Promise<void> {
  const { db, logger } = context;
  const name = claimed.state === 'settled' ? 'onReversed' : 'onPaid';
  if (claimed.hookRun === 'alone') {
    return hookFailed(context, claimed, { name, error: new Error('The process ended in it.'), lane: 'alone' }, lease);
  }
  await updateClaimed(db, claimed, `lane = 'alone', due_at = now(), ${endClaim}`);
  logger.warn(
    `express-intents: the process ended while ${name} ran for ${claimed.payment.id}, perhaps because of another hook. No attempt ` +
      'is counted; it is called again while no other hook runs.',
  );
}

async function callInTransaction(
  context: WorkContext,
  begun: ClaimedPayment,
  { name, hook, changes, values }: HookCall & { readonly hook: Hook },
  lease: AbortSignal,
): Promise<void> {
  const { db, settings } = context;
  const { payment } = begun;
  const attempt = begun.attempts + 1;
  const late = begun.submittedAfterMs > settings.lateAfterMs;
  const observed = { hook: name, payment, attempt, lease };
  let signalOfHook: AbortSignal | undefined;
  let calledAtMs = 0;
  try {
    const work = async (tx: DatabaseTransaction): Promise<void> => {
      calledAtMs = performance.now();
      const call = (signal: AbortSignal): void | Promise<void> => {
        signalOfHook = signal;
        return hook(payment, { tx, attempt, late, signal });
      };
      await withTimeout(settings.hookTimeoutMs, call, { signal: lease });
      await updateClaimed(tx, begun, changes, values);
    };
    await db.transaction(work, { isHook: true, isRetry: attempt > 1 });
  } catch (caught) {
    if (caught instanceof LeaseLost) throw caught;
    // The closing of the ledger is not a failure of the hook.
    lease.throwIfAborted();
    if (!signalOfHook) return hookNotStarted(context, begun, caught);
    const isNotBegun = caught instanceof TransactionNotBegun;
    if (isNotBegun && (caught.isRefused || signalOfHook.aborted)) return hookNotStarted(context, begun, caught);
    // The hook threw while its transaction waited for its turn: that is a failure of the hook.
    const error = isNotBegun ? caught.cause : caught;
    emitHook(context, observed, calledAtMs, { error });
    return hookFailed(context, begun, { name, error, hasTimedOut: signalOfHook.aborted }, lease);
  }
  emitHook(context, observed, calledAtMs);
  emitChange(context, begun);
}

/** The database had no transaction for the hook, which is not a failure of the hook: no attempt is counted. @throws {unknown} `error` */
async function hookNotStarted(
  { db, timing }: SettlementContext,
  claimed: ClaimedPayment,
  error: unknown,
): Promise<never> {
  const changes = `${endClaim}, due_at = now() + $4::float8 * interval '1 millisecond'`;
  await updateClaimed(db, claimed, changes, [timing.retryFirstMs]);
  throw error;
}

interface HookFailure {
  readonly name: HookCall['name'];
  readonly error: unknown;
  readonly hasTimedOut?: boolean;
  /** Default: by the rules in `hook-lanes.ts`. */
  readonly lane?: Lane;
}

/** Counts an attempt. Either the hook is called again after a pause, which doubles each time, or the payment is a dead letter. */
async function hookFailed(
  context: SettlementContext,
  claimed: ClaimedPayment,
  { name, error, hasTimedOut = false, ...failure }: HookFailure,
  lease: AbortSignal,
): Promise<void> {
  const { db, settings, timing, logger } = context;
  const attempts = claimed.attempts + 1;
  const timeouts = claimed.timeouts + (hasTimedOut ? 1 : 0);
  const lane = failure.lane ?? laneAfterFailure(timeouts);
  // A hook that ended its transaction itself would commit its effects again.
  const isLast = attempts >= settings.hookAttempts || error instanceof TransactionEndedWithin;
  if (isLast) return moveToDeadLetter(context, { ...claimed, attempts, lane }, name, error, lease);
  // A hanging hook occupies its slot for `hooks.timeoutMs`, so it pauses for at least as long.
  const pauses = [
    exponentialBackoffMs({ firstMs: timing.retryFirstMs }, attempts - 1),
    hasTimedOut ? exponentialBackoffMs({ firstMs: settings.hookTimeoutMs }, timeouts - 1) : 0,
  ];
  const waitMs = Math.min(Math.max(...pauses), timing.retryCapMs);
  await updateClaimed(
    db,
    claimed,
    `last_error = $4, attempts = $6, timeouts = $7, lane = $8, ${endClaim},
     due_at = now() + $5::float8 * (0.9 + random() * 0.2) * interval '1 millisecond'`,
    [errorText(error), waitMs, attempts, timeouts, lane],
  );
  const next = `It is called again in about ${Math.ceil(waitMs / 1_000)} s.`;
  logger.warn(
    `express-intents: ${name} has failed for ${claimed.payment.id} (${attempts}). ${next}`,
    errorDetails(error),
  );
}

/** Leaves a payment to a person, with the attempts and the lane of `claimed`. */
export async function moveToDeadLetter(
  context: SettlementContext,
  claimed: ClaimedPayment,
  hook: HookCall['name'] | 'verifyPayment',
  error: unknown,
  lease: AbortSignal,
): Promise<void> {
  const { db, hooks, logger } = context;
  const { payment, attempts, lane } = claimed;
  const changes = `state = 'dead', dead_letter_hook = $4, last_error = $5, attempts = $6, lane = $7, due_at = null, ${endClaim}`;
  await updateClaimed(db, claimed, changes, [hook, errorText(error), attempts, lane]);
  emitDeadLetter(context, { intent: payment.id, hook, attempts, error });
  logger.error(
    `express-intents: the payment ${payment.id} is a dead letter: ${hook} has failed ${attempts} times. It is kept. After fixing ` +
      `the cause, run: npx express-intents ledger retry ${payment.id}`,
    errorDetails(error),
  );
  try {
    const { onDeadLetter } = hooks;
    if (!onDeadLetter) return;
    const report = () => onDeadLetter(payment, { hook, attempts, error });
    await observedHook(context, { hook: 'onDeadLetter', payment, lease }, report);
  } catch (failure) {
    logger.error(`express-intents: onDeadLetter has failed for ${payment.id}.`, errorDetails(failure));
  }
}
