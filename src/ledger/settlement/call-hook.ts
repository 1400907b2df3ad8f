import { exponentialBackoffMs } from '../../async/backoff.js';
import { hookTimeoutError, withTimeout } from '../../async/timeout.js';
import { describeError, errorText } from '../../describe-error.js';
import { type Queryable, TransactionNotStarted, type TransactionWork } from '../database/database.js';
import { ConnectionOutdated, DatabaseOutage } from '../database/database-fault.js';
import { TransactionEndedByWork } from '../database/transaction-scope.js';
import type { DeadLetter, Payment, PaymentHookContext } from '../payment.js';
import type { TransitionValues } from '../write-transition.js';
import { hasChanged, updateClaimed } from './claim-writes.js';
import { type ClaimedPayment, LeaseLost, type RunningHook } from './claimed-payment.js';
import { type Lane, laneAfterFailure } from './hook-lanes.js';
import type { SettlementWorkContext } from './settlement-context.js';
import { callObserved, emitDeadLetter, emitHook, emitSettledOrReversed } from './settlement-events.js';

type Hook = (payment: Payment, context: PaymentHookContext) => void | Promise<void>;

/** A hook whose writes commit together with a change of state. */
export interface HookCall {
  readonly name: 'onPaid' | 'onReversed';
  /** If undefined, the state changes without a call. */
  readonly hook: Hook | undefined;
  /** Records the start of the hook, in one statement with another change of the row. Default: records only the start. */
  readonly begin?: (() => Promise<ClaimedPayment>) | undefined;
  /** Calls `verifyPayment`, which decides whether the hook is called now. Before it returns false, it ends the claim. */
  readonly verify?: ((begun: ClaimedPayment) => Promise<boolean>) | undefined;
  /** The change of state. */
  readonly change: 'settle' | 'reverse';
  readonly values: TransitionValues;
}

/**
 * Calls a hook in the lane of its payment, and changes the state in the same transaction. The change is the last
 * statement before the commit and requires the claim, so only one of two processes can commit.
 */
export async function callHook(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  call: HookCall,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { lanes, writes } = context;
  const { name, begin = () => record(name), verify, hook } = call;
  const record = async (runningHook: RunningHook | undefined): Promise<ClaimedPayment> => {
    await writes.write(claimed, 'startHook', { hook: runningHook });
    return { ...claimed, runningHook };
  };
  const isVerified = async (): Promise<boolean> => {
    if (!verify) return true;
    if (!(await verify(await record('verifyPayment')))) return false;
    // No hook runs until the next call, and the wait for a slot may be long.
    claimed.progress.isHookCalled = false;
    return true;
  };
  const finish = async (): Promise<void> => {
    if (hook) return callInTransaction(context, await begin(), { ...call, hook }, leaseSignal);
    await writes.write(claimed, call.change, call.values);
    emitSettledOrReversed(context, claimed);
  };
  if (claimed.lane === 'quarantine') {
    return lanes.run('quarantine', leaseSignal, async () => {
      if (await isVerified()) await finish();
    });
  }
  if (verify) {
    if (!(await lanes.run('verify', leaseSignal, isVerified))) return;
    if (hook && !lanes.isFree(claimed.lane)) await record(undefined);
  }
  await (hook ? lanes.run(claimed.lane, leaseSignal, finish) : finish());
}

/** Resumes a payment whose hook was interrupted, by the rules in `hook-lanes.ts`. */
export async function handleInterrupted(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  name: RunningHook,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { writes, logger } = context;
  const cause = 'the process ended or lost its database connection.';
  if (claimed.lane === 'quarantine') {
    return hookFailed(
      context,
      claimed,
      { name, error: new Error(`${name} was interrupted: ${cause}`), lane: 'quarantine' },
      leaseSignal,
    );
  }
  await writes.write(claimed, 'quarantine');
  logger.warn(
    `express-intents: work on payment ${claimed.payment.id} was interrupted after the start of ${name}: ${cause} Another hook may have ` +
      'caused this, so no attempt is counted. The next call runs while no other hook runs in the process.',
  );
}

async function callInTransaction(
  context: SettlementWorkContext,
  begun: ClaimedPayment,
  { name, hook, change, values }: HookCall & { readonly hook: Hook },
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, settings } = context;
  const { payment } = begun;
  const attempt = begun.attempts + 1;
  const late = begun.submittedAfterMs > settings.lateAfterMs;
  const observed = { hook: name, payment, attempt, leaseSignal };
  const timeoutError = hookTimeoutError(name, settings.hookTimeoutMs, true);
  let signalOfHook: AbortSignal | undefined;
  let hasTimedOut = false;
  let calledAtMs = 0;
  try {
    const error = (): Error => {
      hasTimedOut = true;
      return timeoutError();
    };
    const work: TransactionWork<void> = async (tx, abandoned) => {
      calledAtMs = performance.now();
      const call = (signal: AbortSignal): void | Promise<void> => {
        signalOfHook = signal;
        begun.progress.isHookCalled = true;
        return hook(payment, { tx, attempt, late, signal });
      };
      await withTimeout(settings.hookTimeoutMs, call, { signal: [leaseSignal, abandoned], error });
      await updateClaimed(tx, begun, change, values);
    };
    const isCommitted = (other: Queryable) => hasChanged(other, begun);
    await db.transaction(work, { isHook: true, isRetry: attempt > 1, isCommitted });
  } catch (caught) {
    if (caught instanceof LeaseLost) throw caught;
    // An abort because the ledger closes is not a failure of the hook.
    leaseSignal.throwIfAborted();
    if (!signalOfHook) return hookNotStarted(context, begun, caught);
    const isNotBegun = caught instanceof TransactionNotStarted;
    if (isNotBegun && (caught.isRefused || signalOfHook.aborted)) return hookNotStarted(context, begun, caught);
    // The hook threw while its transaction waited for its turn, which is a failure of the hook.
    const error = isNotBegun ? caught.cause : caught;
    emitHook(context, observed, calledAtMs, { error });
    const isDatabaseFault = error instanceof DatabaseOutage || error instanceof ConnectionOutdated;
    if (isDatabaseFault && begun.lane === 'first') return retryUncounted(context, begun, name, error);
    return hookFailed(context, begun, { name, error, hasTimedOut }, leaseSignal);
  }
  emitHook(context, observed, calledAtMs);
  emitSettledOrReversed(context, begun);
}

/** The database could not begin a transaction, so no attempt is counted. @throws {unknown} `error` */
async function hookNotStarted(
  { writes, timing }: SettlementWorkContext,
  claimed: ClaimedPayment,
  error: unknown,
): Promise<never> {
  await writes.write(claimed, 'poll', { due_ms: timing.retryFirstMs });
  claimed.progress.hasEnded = true;
  throw error;
}

/** The database failed during a first call. A restart of the database or a pooler must not count for every running hook. */
async function retryUncounted(
  { writes, timing, logger }: SettlementWorkContext,
  claimed: ClaimedPayment,
  name: RunningHook,
  error: DatabaseOutage | ConnectionOutdated,
): Promise<void> {
  await writes.write(claimed, 'fail', { error: errorText(error), lane: 'retry', due_ms: timing.retryFirstMs });
  logger.warn(
    `express-intents: the database failed during ${name} for payment ${claimed.payment.id}. No attempt is counted. It is called ` +
      `again in about ${Math.ceil(timing.retryFirstMs / 1_000)} s.`,
    describeError(error),
  );
}

interface HookFailure {
  readonly name: RunningHook;
  readonly error: unknown;
  readonly hasTimedOut?: boolean;
  /** Default: the lane for this number of timeouts. */
  readonly lane?: Lane;
}

/** Counts an attempt. After a backoff the hook is called again. After the last attempt the payment becomes a dead letter. */
async function hookFailed(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { name, error, hasTimedOut = false, ...failure }: HookFailure,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { writes, settings, timing, logger } = context;
  const attempts = claimed.attempts + 1;
  const timeouts = claimed.timeouts + (hasTimedOut ? 1 : 0);
  const lane = failure.lane ?? laneAfterFailure(timeouts);
  // A hook that ended its transaction itself would commit its writes again.
  const isLast = attempts >= settings.hookAttempts || error instanceof TransactionEndedByWork;
  const count = `attempt ${attempts} of ${settings.hookAttempts}`;
  if (isLast) {
    const reason = `${name} failed (${count}) and is not called again`;
    return moveToDeadLetter(context, { ...claimed, attempts, lane }, { hook: name, error, reason }, leaseSignal);
  }
  // A hanging hook occupies its slot for `ledger.hookLimits.timeoutMs`, so the pause is about as long or longer.
  const pauses = [
    exponentialBackoffMs({ firstMs: timing.retryFirstMs }, attempts - 1),
    hasTimedOut ? exponentialBackoffMs({ firstMs: settings.hookTimeoutMs }, timeouts - 1) : 0,
  ];
  const waitMs = Math.min(Math.max(...pauses), timing.retryCapMs);
  await writes.write(claimed, 'fail', { error: errorText(error), due_ms: waitMs, attempts, timeouts, lane });
  logger.warn(
    `express-intents: ${name} failed for payment ${claimed.payment.id} (${count}). It is retried in about ${Math.ceil(waitMs / 1_000)} s.`,
    describeError(error),
  );
}

interface DeadLetterCause extends Pick<DeadLetter, 'hook' | 'error'> {
  /** For the log. */
  readonly reason: string;
}

/** Stops processing a payment until an operator retries it. Writes the attempts and the lane of `claimed`. */
export async function moveToDeadLetter(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { hook, error, reason }: DeadLetterCause,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { writes, hooks, logger } = context;
  const { payment, attempts } = claimed;
  await writes.write(claimed, 'bury', { hook, error: errorText(error) });
  emitDeadLetter(context, { intent: payment.id, hook, attempts, error });
  logger.error(
    `express-intents: payment ${payment.id} is a dead letter: ${reason}. Fix the cause, then call ` +
      `router.intents.retry('${payment.id}'), or run npx express-intents ledger retry ${payment.id} (for a ledger in a folder: ` +
      'while the site is stopped).',
    describeError(error),
  );
  try {
    const { onDeadLetter } = hooks;
    if (!onDeadLetter) return;
    const report = () => onDeadLetter(payment, { hook, attempts, error });
    await callObserved(context, { hook: 'onDeadLetter', payment, leaseSignal }, report);
  } catch (failure) {
    logger.error(
      `express-intents: onDeadLetter failed for payment ${payment.id}. It is not called again.`,
      describeError(failure),
    );
  }
}
