import { timed } from './bounded.js';
import { DatabaseOutage } from './database-fault.js';
import { errorDetails, errorText } from './error-text.js';
import { tellChange, tellDeadLetter, tellHook } from './ledger-events.js';
import { observedHook } from './observed-hook.js';
import type { Payment, PaymentHookContext } from './payment.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';
import { LeaseLost, type Work, writeWork } from './work.js';

type Hook = (payment: Payment, context: PaymentHookContext) => void | Promise<void>;

/** A hook whose effects commit together with the change of the state that it stands for. */
export interface HookCall {
  readonly name: 'onPaid' | 'onReversed';
  /** Undefined where the site has none: then the state changes by itself. */
  readonly hook: Hook | undefined;
  /** What becomes of the row, as `writeWork` takes it. */
  readonly changes: string;
  readonly values: readonly unknown[];
}

/**
 * Calls a hook and settles, or neither of them. The change of the state is the last statement before the commit and holds
 * only for whoever has the lease, so that of two processes that both think so one alone commits.
 */
export async function callHook(context: WorkContext, work: Work, call: HookCall, lease: AbortSignal): Promise<void> {
  const { hook } = call;
  if (hook) return context.hookPlaces.take(lease, () => callInTransaction(context, work, { ...call, hook }, lease));
  await writeWork(context.db, work, call.changes, call.values);
  tellChange(context, work);
}

async function callInTransaction(
  context: WorkContext,
  work: Work,
  { name, hook, changes, values }: HookCall & { readonly hook: Hook },
  lease: AbortSignal,
): Promise<void> {
  const { db, settings } = context;
  // Each call is counted before it begins, so that one that takes the process with it counts as well.
  if (work.attempts >= settings.hookAttempts)
    return bury(context, work, name, new Error('The process ended in it.'), lease);
  const begun = await writeWork(db, work, 'attempts = i.attempts + 1');
  const { payment } = work;
  const { attempts: attempt } = begun;
  const late = work.submittedAfterMs > settings.lateAfterMs;
  const run = { hook: name, payment, attempt, lease };
  let wasCalled = false;
  let calledAtMs = 0;
  try {
    await db.transaction(async (tx) => {
      wasCalled = true;
      calledAtMs = performance.now();
      await timed(lease, settings.hookTimeoutMs, (signal) => hook(payment, { tx, attempt, late, signal }));
      await writeWork(tx, begun, changes, values);
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (!wasCalled) return notCalled(context, begun, error);
    // A ledger that is closed is no failure of the hook.
    lease.throwIfAborted();
    tellHook(context, run, calledAtMs, { error });
    return failed(context, begun, name, error, lease);
  }
  tellHook(context, run, calledAtMs);
  tellChange(context, begun);
}

/** The database had no transaction for a hook, and could not be told either: the attempt that it has counted was none. */
export class NotCalled extends Error {
  constructor(cause: unknown) {
    super('The hook was not called.', { cause });
    this.name = 'NotCalled';
  }
}

/**
 * A database that has no transaction to give is no failure of the hook, and does not count as one.
 * @throws {unknown} `error` @throws {NotCalled}
 */
async function notCalled({ db, timing }: SettlementContext, work: Work, error: unknown): Promise<never> {
  const changes = `attempts = i.attempts - 1, leased_until = null, due_at = now() + $4::float8 * interval '1 millisecond'`;
  await writeWork(db, work, changes, [timing.retryFirstMs]).catch((failure) => {
    throw failure instanceof DatabaseOutage ? new NotCalled(failure) : failure;
  });
  throw error;
}

/** Has the hook called again later, each time after twice as long; or no more. */
async function failed(
  context: SettlementContext,
  work: Work,
  name: HookCall['name'],
  error: unknown,
  lease: AbortSignal,
): Promise<void> {
  const { db, settings, timing, logger } = context;
  const { payment, attempts } = work;
  if (attempts >= settings.hookAttempts) return bury(context, work, name, error, lease);
  const waitMs = Math.min(timing.retryFirstMs * 2 ** (attempts - 1), timing.retryCapMs);
  await writeWork(
    db,
    work,
    `last_error = $4, leased_until = null,
     due_at = now() + $5::float8 * (0.9 + random() * 0.2) * interval '1 millisecond'`,
    [errorText(error), waitMs],
  );
  const next = `It is called again in about ${Math.ceil(waitMs / 1_000)} s.`;
  logger.warn(`express-intents: ${name} has failed for ${payment.id} (${attempts}). ${next}`, errorDetails(error));
}

/** Gives a payment up to a person. */
export async function bury(
  context: SettlementContext,
  work: Work,
  hook: HookCall['name'] | 'verifyPayment',
  error: unknown,
  lease: AbortSignal,
): Promise<void> {
  const { db, hooks, logger } = context;
  const changes = `state = 'dead', dead_hook = $4, last_error = $5, due_at = null, leased_until = null`;
  const { payment, attempts } = await writeWork(db, work, changes, [hook, errorText(error)]);
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
