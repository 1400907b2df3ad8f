import { exponentialBackoffMs } from '../../async/backoff.js';
import { hookTimeoutError, withTimeout } from '../../async/timeout.js';
import { describeError, errorText } from '../../describe-error.js';
import { type DatabaseTransaction, TransactionNotStarted } from '../database/database.js';
import { TransactionEndedByWork } from '../database/transaction-scope.js';
import type { Payment, PaymentHookContext } from '../payment.js';
import { type ClaimedPayment, endClaimSql, LeaseLost, updateClaimed } from './claimed-payment.js';
import { type Lane, laneAfterFailure } from './hook-lanes.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';
import { callObserved, emitDeadLetter, emitHook, emitSettledOrReversed } from './settlement-events.js';
import { jitteredDueAtSql } from './settlement-timing.js';

type Hook = (payment: Payment, context: PaymentHookContext) => void | Promise<void>;

/** Whether other hooks may run at the same time. */
export type HookConcurrency = NonNullable<ClaimedPayment['hookRun']>;

/** A hook whose writes commit together with a change of state. */
export interface HookCall {
  readonly name: 'onPaid' | 'onReversed';
  /** If undefined, the state changes without a call. */
  readonly hook: Hook | undefined;
  /** Records the start of the hook, in one statement with another change of the row. Default: records only the start. */
  readonly begin?: ((run: HookConcurrency) => Promise<ClaimedPayment>) | undefined;
  /** Decides whether the hook is called now. Before it returns false, it ends the claim and stores the outcome. */
  readonly check?: ((claimed: ClaimedPayment) => Promise<boolean>) | undefined;
  readonly changes: string;
  readonly values: readonly unknown[];
}

/**
 * Calls a hook in the lane of its payment, and changes the state in the same transaction. The change is the last
 * statement before the commit and requires the claim, so only one of two processes can commit.
 */
export async function callHook(
  context: WorkContext,
  claimed: ClaimedPayment,
  call: HookCall,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { lanes } = context;
  const { check, hook } = call;
  const begin = async (): Promise<ClaimedPayment> => {
    const run = claimed.lane === 'alone' ? 'alone' : 'together';
    if (call.begin) return call.begin(run);
    await updateClaimed(context.db, claimed, 'hook_run = $4', [run]);
    return { ...claimed, hookRun: run };
  };
  const passesCheck = async (): Promise<boolean> => !check || check(await begin());
  const finish = async (): Promise<void> => {
    if (hook) return callInTransaction(context, await begin(), { ...call, hook }, leaseSignal);
    await updateClaimed(context.db, claimed, call.changes, call.values);
    emitSettledOrReversed(context, claimed);
  };
  if (claimed.lane === 'alone') {
    return lanes.run('alone', leaseSignal, async () => {
      if (await passesCheck()) await finish();
    });
  }
  if (check && !(await lanes.run('verify', leaseSignal, passesCheck))) return;
  await (hook ? lanes.run(claimed.lane, leaseSignal, finish) : finish());
}

/** Resumes a payment whose hooks were interrupted, by the rules in `hook-lanes.ts`. */
export async function handleInterrupted(
  context: WorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, logger } = context;
  const name = claimed.state === 'settled' ? 'onReversed' : 'onPaid';
  if (claimed.hookRun === 'alone') {
    return hookFailed(
      context,
      claimed,
      { name, error: new Error('The hook was interrupted: the process ended or lost the database.'), lane: 'alone' },
      leaseSignal,
    );
  }
  await updateClaimed(db, claimed, `lane = 'alone', due_at = now(), ${endClaimSql}`);
  logger.warn(
    `express-intents: the hooks of payment ${claimed.payment.id} were interrupted: the process ended or lost the database. Another ` +
      'hook may be the cause, so no attempt is counted, and the next call runs alone.',
  );
}

async function callInTransaction(
  context: WorkContext,
  begun: ClaimedPayment,
  { name, hook, changes, values }: HookCall & { readonly hook: Hook },
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, settings } = context;
  const { payment } = begun;
  const attempt = begun.attempts + 1;
  const late = begun.submittedAfterMs > settings.lateAfterMs;
  const observed = { hook: name, payment, attempt, leaseSignal };
  const error = hookTimeoutError(name, settings.hookTimeoutMs, true);
  let signalOfHook: AbortSignal | undefined;
  let calledAtMs = 0;
  try {
    const work = async (tx: DatabaseTransaction): Promise<void> => {
      calledAtMs = performance.now();
      const call = (signal: AbortSignal): void | Promise<void> => {
        signalOfHook = signal;
        return hook(payment, { tx, attempt, late, signal });
      };
      await withTimeout(settings.hookTimeoutMs, call, { signal: leaseSignal, error });
      await updateClaimed(tx, begun, changes, values);
    };
    await db.transaction(work, { isHook: true, isRetry: attempt > 1 });
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
    return hookFailed(context, begun, { name, error, hasTimedOut: signalOfHook.aborted }, leaseSignal);
  }
  emitHook(context, observed, calledAtMs);
  emitSettledOrReversed(context, begun);
}

/** The database could not begin a transaction, so no attempt is counted. @throws {unknown} `error` */
async function hookNotStarted(
  { db, timing }: SettlementContext,
  claimed: ClaimedPayment,
  error: unknown,
): Promise<never> {
  const changes = `${endClaimSql}, due_at = now() + $4::float8 * interval '1 millisecond'`;
  await updateClaimed(db, claimed, changes, [timing.retryFirstMs]);
  throw error;
}

interface HookFailure {
  readonly name: HookCall['name'];
  readonly error: unknown;
  readonly hasTimedOut?: boolean;
  readonly lane?: Lane;
}

/** Counts an attempt. After a backoff the hook is called again. After the last attempt the payment becomes a dead letter. */
async function hookFailed(
  context: SettlementContext,
  claimed: ClaimedPayment,
  { name, error, hasTimedOut = false, ...failure }: HookFailure,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, settings, timing, logger } = context;
  const attempts = claimed.attempts + 1;
  const timeouts = claimed.timeouts + (hasTimedOut ? 1 : 0);
  const lane = failure.lane ?? laneAfterFailure(timeouts);
  // A hook that ended its transaction itself would commit its writes again.
  const isLast = attempts >= settings.hookAttempts || error instanceof TransactionEndedByWork;
  if (isLast) return moveToDeadLetter(context, { ...claimed, attempts, lane }, name, error, leaseSignal);
  // A hanging hook occupies its slot for `hookLimits.timeoutMs`, so the pause is about as long or longer.
  const pauses = [
    exponentialBackoffMs({ firstMs: timing.retryFirstMs }, attempts - 1),
    hasTimedOut ? exponentialBackoffMs({ firstMs: settings.hookTimeoutMs }, timeouts - 1) : 0,
  ];
  const waitMs = Math.min(Math.max(...pauses), timing.retryCapMs);
  await updateClaimed(
    db,
    claimed,
    `last_error = $4, attempts = $6, timeouts = $7, lane = $8, ${endClaimSql},
     due_at = ${jitteredDueAtSql('$5')}`,
    [errorText(error), waitMs, attempts, timeouts, lane],
  );
  const count = `attempt ${attempts} of ${settings.hookAttempts}`;
  logger.warn(
    `express-intents: ${name} failed for payment ${claimed.payment.id} (${count}). It is retried in about ${Math.ceil(waitMs / 1_000)} s.`,
    describeError(error),
  );
}

/**
 * Stops processing a payment until an operator retries it. Writes the attempts and the lane of `claimed`.
 * @param hook `verifyPayment` also if the payment service no longer knows the payment
 */
export async function moveToDeadLetter(
  context: SettlementContext,
  claimed: ClaimedPayment,
  hook: HookCall['name'] | 'verifyPayment',
  error: unknown,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, hooks, logger } = context;
  const { payment, attempts, lane } = claimed;
  const changes = `state = 'dead', dead_letter_hook = $4, last_error = $5, attempts = $6, lane = $7, due_at = null, ${endClaimSql}`;
  await updateClaimed(db, claimed, changes, [hook, errorText(error), attempts, lane]);
  emitDeadLetter(context, { intent: payment.id, hook, attempts, error });
  const reason =
    hook === 'verifyPayment'
      ? 'within `watch.unpaidMs` it could not be verified, or the payment service no longer knew it'
      : `${hook} failed ${attempts === 1 ? 'once' : `${attempts} times`} and is not called again`;
  logger.error(
    `express-intents: payment ${payment.id} is a dead letter: ${reason}. Fix the cause, then run: ` +
      `npx express-intents ledger retry ${payment.id}`,
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
