import { withTimeout } from '../../async/timeout.js';
import { type DatabaseTransaction, TransactionNotBegun } from '../database/database.js';
import { errorDetails, errorText } from '../database/error-text.js';
import { TransactionEndedWithin } from '../database/transaction-scope.js';
import { tellChange, tellDeadLetter, tellHook } from '../ledger-events.js';
import type { Payment, PaymentHookContext } from '../payment.js';
import { LeaseLost, release, type Work, writeWork } from './claimed-payment.js';
import { type Lane, laneAfterFailure } from './hook-lanes.js';
import { observedHook } from './observed-hook.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';

type Hook = (payment: Payment, context: PaymentHookContext) => void | Promise<void>;

/** A hook whose effects commit together with the change of the state that it stands for. */
export interface HookCall {
  readonly name: 'onPaid' | 'onReversed';
  /** Undefined where the site has none: then the state changes without a call. */
  readonly hook: Hook | undefined;
  /** Code of the site that decides whether the hook is called now; when it answers false, it has written what follows. */
  readonly check?: ((claimed: Work) => Promise<boolean>) | undefined;
  /** What becomes of the row, as `writeWork` takes it. */
  readonly changes: string;
  readonly values: readonly unknown[];
}

/**
 * Calls a hook in the lane of its payment and settles, or neither of them. The change of the state is the last statement
 * before the commit and holds only for the process that has the lease, so of two processes only one commits.
 */
export async function callHook(context: WorkContext, work: Work, call: HookCall, lease: AbortSignal): Promise<void> {
  const { lanes } = context;
  const { check, hook } = call;
  const begin = async (): Promise<Work> => {
    const begun = await writeWork(context.db, work, 'hook_run = $4', [work.lane === 'alone' ? 'alone' : 'together']);
    return { ...begun, payment: work.payment };
  };
  const mayGoOn = async (): Promise<boolean> => !check || check(await begin());
  const finish = async (): Promise<void> => {
    if (hook) return callInTransaction(context, await begin(), { ...call, hook }, lease);
    await writeWork(context.db, work, call.changes, call.values);
    tellChange(context, work);
  };
  if (work.lane === 'alone') {
    return lanes.run('alone', lease, async () => {
      if (await mayGoOn()) await finish();
    });
  }
  if (check && !(await lanes.run('verify', lease, mayGoOn))) return;
  await (hook ? lanes.run(work.lane, lease, finish) : finish());
}

/** What a payment goes on with whose hook was interrupted by the end of a process: see `hook-lanes.ts`. */
export async function judgeInterrupted(context: WorkContext, work: Work, lease: AbortSignal): Promise<void> {
  const { db, logger } = context;
  const name = work.state === 'settled' ? 'onReversed' : 'onPaid';
  if (work.hookRun === 'alone') {
    return failed(context, work, { name, error: new Error('The process ended in it.'), lane: 'alone' }, lease);
  }
  await writeWork(db, work, `lane = 'alone', due_at = now(), ${release}`);
  logger.warn(
    `express-intents: the process ended while ${name} ran for ${work.payment.id}, perhaps because of another hook. No attempt ` +
      'is counted; it is called again while no other hook runs.',
  );
}

async function callInTransaction(
  context: WorkContext,
  begun: Work,
  { name, hook, changes, values }: HookCall & { readonly hook: Hook },
  lease: AbortSignal,
): Promise<void> {
  const { db, settings } = context;
  const { payment } = begun;
  const attempt = begun.attempts + 1;
  const late = begun.submittedAfterMs > settings.lateAfterMs;
  const run = { hook: name, payment, attempt, lease };
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
      await writeWork(tx, begun, changes, values);
    };
    await db.transaction(work, { isHook: true, isRetry: attempt > 1 });
  } catch (caught) {
    if (caught instanceof LeaseLost) throw caught;
    // A ledger that is closed is no failure of the hook.
    lease.throwIfAborted();
    if (!signalOfHook) return notCalled(context, begun, caught);
    const isNotBegun = caught instanceof TransactionNotBegun;
    if (isNotBegun && (caught.isRefused || signalOfHook.aborted)) return notCalled(context, begun, caught);
    // A hook that throws while its transaction waits for its turn has failed by itself.
    const error = isNotBegun ? caught.cause : caught;
    tellHook(context, run, calledAtMs, { error });
    return failed(context, begun, { name, error, hasTimedOut: signalOfHook.aborted }, lease);
  }
  tellHook(context, run, calledAtMs);
  tellChange(context, begun);
}

/** A database that has no transaction to give is no failure of the hook. @throws {unknown} `error` */
async function notCalled({ db, timing }: SettlementContext, work: Work, error: unknown): Promise<never> {
  const changes = `${release}, due_at = now() + $4::float8 * interval '1 millisecond'`;
  await writeWork(db, work, changes, [timing.retryFirstMs]);
  throw error;
}

interface HookFailure {
  readonly name: HookCall['name'];
  readonly error: unknown;
  readonly hasTimedOut?: boolean;
  /** Default: as `hook-lanes.ts` has it. */
  readonly lane?: Lane;
}

/** Charges an attempt. The hook is called again after a pause, each twice as long as the one before; or no more. */
async function failed(
  context: SettlementContext,
  work: Work,
  { name, error, hasTimedOut = false, ...failure }: HookFailure,
  lease: AbortSignal,
): Promise<void> {
  const { db, settings, timing, logger } = context;
  const attempts = work.attempts + 1;
  const timeouts = work.timeouts + (hasTimedOut ? 1 : 0);
  const lane = failure.lane ?? laneAfterFailure(timeouts);
  // What a hook has committed by itself it would commit once more.
  const isLast = attempts >= settings.hookAttempts || error instanceof TransactionEndedWithin;
  if (isLast) return bury(context, { ...work, attempts, lane }, name, error, lease);
  // A hook that hangs has its place for the whole of `hookTimeoutMs`: it pauses for at least as long.
  const pauses = [
    timing.retryFirstMs * 2 ** (attempts - 1),
    hasTimedOut ? settings.hookTimeoutMs * 2 ** (timeouts - 1) : 0,
  ];
  const waitMs = Math.min(Math.max(...pauses), timing.retryCapMs);
  await writeWork(
    db,
    work,
    `last_error = $4, attempts = $6, timeouts = $7, lane = $8, ${release},
     due_at = now() + $5::float8 * (0.9 + random() * 0.2) * interval '1 millisecond'`,
    [errorText(error), waitMs, attempts, timeouts, lane],
  );
  const next = `It is called again in about ${Math.ceil(waitMs / 1_000)} s.`;
  logger.warn(`express-intents: ${name} has failed for ${work.payment.id} (${attempts}). ${next}`, errorDetails(error));
}

/** Gives a payment up to a person, with the attempts and the lane of `work`. */
export async function bury(
  context: SettlementContext,
  work: Work,
  hook: HookCall['name'] | 'verifyPayment',
  error: unknown,
  lease: AbortSignal,
): Promise<void> {
  const { db, hooks, logger } = context;
  const { payment, attempts, lane } = work;
  const changes = `state = 'dead', dead_hook = $4, last_error = $5, attempts = $6, lane = $7, due_at = null, ${release}`;
  await writeWork(db, work, changes, [hook, errorText(error), attempts, lane]);
  tellDeadLetter(context, { intent: payment.id, hook, attempts, error });
  logger.error(
    `express-intents: the payment ${payment.id} is a dead letter: ${hook} has failed ${attempts} times. It is kept; when the ` +
      `reason is mended: npx express-intents ledger retry ${payment.id}`,
    errorDetails(error),
  );
  try {
    const { onDeadLetter } = hooks;
    if (!onDeadLetter) return;
    const tell = () => onDeadLetter(payment, { hook, attempts, error });
    await observedHook(context, { hook: 'onDeadLetter', payment, lease }, tell);
  } catch (failure) {
    logger.error(`express-intents: onDeadLetter has failed for ${payment.id}.`, errorDetails(failure));
  }
}
