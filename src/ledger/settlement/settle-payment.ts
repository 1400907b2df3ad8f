import { IntentError } from '../../errors.js';
import { errorText } from '../database/error-text.js';
import { tellReversed, tellSubmitted } from '../ledger-events.js';
import type { Payment } from '../payment.js';
import { bury, callHook, judgeInterrupted } from './call-hook.js';
import { calm, release, type Work, writeWork } from './claimed-payment.js';
import { laneAfterFailure } from './hook-lanes.js';
import { observedHook } from './observed-hook.js';
import type { SequencerStatus, WorkContext } from './settlement-context.js';
import { untilNextLookMs, untilReversalLookMs } from './settlement-timing.js';

/**
 * Does what is due for one payment that was claimed. Only the word of the sequencer, asked for here, moves a state.
 * @throws {LeaseLost} when the payment is another's meanwhile
 */
export async function settlePayment(context: WorkContext, work: Work, lease: AbortSignal): Promise<void> {
  if (work.hookRun) return judgeInterrupted(context, work, lease);
  const status = await askOrWait(context, work, lease);
  if (!status) return;
  if (work.state === 'settled') return checkReversal(context, work, status, lease);
  if (work.state === 'reversed') return waitForSecondPayment(context, work, status);
  if (work.state === 'submitted') return settleSubmitted(context, work, status, lease);
  if (!status.intentSubmitted) return waitForPayment(context, work, status);
  const submitted = await writeWork(
    context.db,
    work,
    `state = 'submitted', submitted_at = now(), attempts = 0, last_error = null,
     due_at = now() + $4::float8 * interval '1 millisecond',
     leased_until = case when $4::float8 = 0 then i.leased_until end`,
    [context.settings.settleDelayMs],
  );
  context.announce?.(work.payment.id);
  tellSubmitted(context, submitted);
  if (context.settings.settleDelayMs === 0) await settle(context, submitted, lease);
}

/** A sequencer that does not answer says nothing about a payment: it is asked again. */
async function askOrWait(context: WorkContext, work: Work, signal: AbortSignal): Promise<SequencerStatus | undefined> {
  try {
    return await context.askStatus(work.payment.id, { signal });
  } catch (error) {
    signal.throwIfAborted();
    await lookLater(context, work, error instanceof IntentError ? error.code : errorText(error));
    return undefined;
  }
}

const forgotten = 'The sequencer does not know the intent any more.';

async function waitForPayment(context: WorkContext, work: Work, { exists }: SequencerStatus): Promise<void> {
  const { db, settings, timing, observer } = context;
  const wasExpired = work.state === 'expired';
  // It expired while the clock of the database was ahead.
  if (wasExpired && work.ageMs < settings.watchMs) {
    const changes = `state = 'open', due_at = now() + $4::float8 * interval '1 millisecond',
      watch_until = now() + $5::float8 * interval '1 millisecond', ${release}`;
    await writeWork(db, work, changes, [untilNextLookMs(work.ageMs, timing), settings.watchMs - work.ageMs]);
  } else if (!work.isOver) {
    await lookLater(context, work, exists ? undefined : forgotten);
  } else if (wasExpired) {
    await writeWork(db, work, `due_at = null, ${release}`);
  } else {
    const changes = `state = 'expired', due_at = now() + $4::float8 * (0.9 + random() * 0.2) * interval '1 millisecond',
      watch_until = now() + $5::float8 * interval '1 millisecond', ${release}`;
    await writeWork(db, work, changes, [timing.watchCapMs, settings.watchMs]);
    observer?.emit({ type: 'payment_expired', intent: work.payment.id });
  }
}

/** What was taken back can be paid once more, and is then settled as anything that is open. */
async function waitForSecondPayment(
  context: WorkContext,
  work: Work,
  { intentSubmitted }: SequencerStatus,
): Promise<void> {
  if (intentSubmitted) {
    context.logger.warn(
      `express-intents: the payment ${work.payment.id}, which was taken back, was submitted once more.`,
    );
    await writeWork(context.db, work, `state = 'open', ${calm}, due_at = now(), ${release}`);
  } else if (work.isOver) {
    await writeWork(context.db, work, `due_at = null, ${release}`);
  } else {
    await lookLater(context, work);
  }
}

async function lookLater(
  { db, timing }: WorkContext,
  work: Work,
  lastError?: string,
  { lane, timeouts }: Pick<Work, 'lane' | 'timeouts'> = work,
): Promise<void> {
  await writeWork(
    db,
    work,
    `due_at = now() + $4::float8 * (0.9 + random() * 0.2) * interval '1 millisecond', ${release},
     last_error = coalesce($5, i.last_error), lane = $6, timeouts = $7`,
    [
      work.state === 'expired' ? timing.watchCapMs : untilNextLookMs(work.ageMs, timing),
      lastError ?? null,
      lane,
      timeouts,
    ],
  );
}

/** Some time has passed since the sequencer called it submitted: after a delay, or because a hook has failed. */
async function settleSubmitted(
  context: WorkContext,
  work: Work,
  { exists, intentSubmitted }: SequencerStatus,
  lease: AbortSignal,
): Promise<void> {
  if (intentSubmitted) return settle(context, work, lease);
  if (exists) {
    context.logger.warn(`express-intents: the payment ${work.payment.id} was taken back before it settled.`);
    await writeWork(context.db, work, `state = 'open', submitted_at = null, ${calm}, ${release}`);
    tellReversed(context, work);
    return;
  }
  // Whoever has forgotten the intent says nothing about it.
  context.logger.warn(
    `express-intents: the payment ${work.payment.id} was submitted, and the sequencer does not know it any more. It is kept, ` +
      'and asked for again. (The embedded sequencer forgets everything when its process ends.)',
  );
  return work.isOver
    ? bury(context, work, 'verifyPayment', new Error(forgotten), lease)
    : lookLater(context, work, forgotten);
}

async function settle(context: WorkContext, work: Work, lease: AbortSignal): Promise<void> {
  const { hooks, settings, timing } = context;
  const payment = await withUserId(context, work, lease);
  const firstReversalMs = settings.reversalWatchMs > 0 ? timing.reversalFirstMs : null;
  await callHook(
    context,
    { ...work, payment },
    {
      name: 'onPaid',
      hook: hooks.onPaid,
      check: hooks.verifyPayment && ((claimed) => isVerified(context, { ...claimed, payment }, lease)),
      changes: `state = 'settled', settled_at = now(), user_id = coalesce($4, i.user_id), ${calm},
        due_at = now() + $5::float8 * interval '1 millisecond', ${release}`,
      values: [payment.userId ?? null, firstReversalMs],
    },
    lease,
  );
}

/** Who has paid is good to know, and never a reason to leave a payment unsettled. */
async function withUserId(
  { askUserId, logger }: WorkContext,
  { payment, login }: Work,
  signal: AbortSignal,
): Promise<Payment> {
  if (!login || payment.userId !== undefined || !askUserId) return payment;
  try {
    return Object.freeze({ ...payment, userId: await askUserId(payment.id, { signal }) });
  } catch (error) {
    const reason = error instanceof IntentError ? error.code : errorText(error);
    logger.warn(`express-intents: who has paid ${payment.id} could not be asked for: ${reason}`);
    return payment;
  }
}

/** Whether `verifyPayment` lets a payment settle now; where it does not, the payment is asked about again later. */
async function isVerified(context: WorkContext, work: Work, lease: AbortSignal): Promise<boolean> {
  const { payment } = work;
  const { verifyPayment } = context.hooks;
  let signalOfHook: AbortSignal | undefined;
  let doubt: unknown;
  try {
    const verify = (signal: AbortSignal) => {
      signalOfHook = signal;
      return verifyPayment?.(payment, { signal });
    };
    const answer = await observedHook(context, { hook: 'verifyPayment', payment, lease }, verify);
    doubt = answer === true ? undefined : new Error('verifyPayment said no.');
  } catch (error) {
    doubt = error ?? new Error('verifyPayment has failed.');
  }
  lease.throwIfAborted();
  if (doubt === undefined) return true;
  const timeouts = work.timeouts + (signalOfHook?.aborted ? 1 : 0);
  const lane = laneAfterFailure(timeouts) === 'slow' ? 'slow' : 'first';
  if (work.isOver) await bury(context, { ...work, lane }, 'verifyPayment', doubt, lease);
  else await lookLater(context, work, errorText(doubt), { lane, timeouts });
  return false;
}

/** One answer may be a mistake of the sequencer; only when it says so again is a payment taken back. */
async function checkReversal(
  context: WorkContext,
  work: Work,
  { exists, intentSubmitted }: SequencerStatus,
  lease: AbortSignal,
): Promise<void> {
  const { db, hooks, settings, timing, logger } = context;
  if (intentSubmitted || !exists) {
    const nextLook = `now() + $4::float8 * interval '1 millisecond'`;
    const values = [untilReversalLookMs(work.ageMs, settings.reversalWatchMs, timing) ?? null];
    await writeWork(db, work, `doubted_at = null, ${release}, due_at = ${nextLook}`, values);
    return;
  }
  if (!work.isDoubted) {
    const changes = `doubted_at = now(), ${release}, due_at = now() + $4::float8 * interval '1 millisecond'`;
    await writeWork(db, work, changes, [timing.doubtMs]);
    return;
  }
  logger.error(`express-intents: the payment ${work.payment.id} was taken back after it had settled.`);
  await callHook(
    context,
    work,
    {
      name: 'onReversed',
      hook: hooks.onReversed,
      changes: `state = 'reversed', reversed_at = now(), doubted_at = null, ${calm},
        due_at = now() + $4::float8 * interval '1 millisecond', ${release},
        watch_until = greatest(i.watch_until, now() + $5::float8 * interval '1 millisecond')`,
      values: [timing.watchFirstMs, settings.watchMs],
    },
    lease,
  );
}
