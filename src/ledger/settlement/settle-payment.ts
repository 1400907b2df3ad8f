import { describeError, errorText } from '../../describe-error.js';
import { IntentError } from '../../errors.js';
import { confirmIntent } from '../intents/record-intent.js';
import type { Payment } from '../payment.js';
import { callHook, type HookCall, handleInterrupted, moveToDeadLetter } from './call-hook.js';
import { releaseClaims } from './claim-payments.js';
import {
  type ClaimedPayment,
  clearFailuresSql,
  endClaimSql,
  LeaseLost,
  type RunningHook,
  updateClaimed,
  writeSubmitted,
} from './claimed-payment.js';
import { laneAfterFailure } from './hook-lanes.js';
import type { SequencerStatus, SettlementWorkContext } from './settlement-context.js';
import { callObserved, emitReversed, emitSubmitted } from './settlement-events.js';
import { jitteredDueAtSql, untilNextPollMs, untilReversalPollMs } from './settlement-timing.js';

/**
 * Processes a claimed payment by the states in `settlement.ts`, based only on the status that the sequencer
 * returns here.
 * @throws {LeaseLost} if another process has claimed the payment
 */
export async function settlePayment(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<void> {
  if (claimed.runningHook) return handleInterrupted(context, claimed, claimed.runningHook, leaseSignal);
  const status = await fetchStatusOrPollLater(context, claimed, leaseSignal);
  if (!status) return;
  if (claimed.state === 'settled') return checkReversal(context, claimed, status, leaseSignal);
  if (claimed.state === 'reversed') return watchReversed(context, claimed, status);
  if (claimed.state === 'submitted') return settleSubmitted(context, claimed, status, leaseSignal);
  if (claimed.state === 'creating') return confirmPaid(context, claimed, status, leaseSignal);
  if (!status.intentSubmitted) return watchUnpaid(context, claimed, status);
  return submitPayment(context, claimed, leaseSignal);
}

async function submitPayment(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { settleDelayMs, watchMs } = context.settings;
  const submit = async (runningHook?: RunningHook): Promise<ClaimedPayment> => {
    const submitted = await writeSubmitted(context.db, claimed, { settleDelayMs, watchMs, runningHook });
    context.notifySubmitted?.(claimed.payment.id);
    emitSubmitted(context, submitted);
    return submitted;
  };
  // Usually one write submits the payment and starts its hook. A payment that must wait is submitted first.
  if (settleDelayMs === 0 && canStartHook(context, claimed)) {
    return callOnPaid(context, claimed, leaseSignal, () => submit('onPaid'));
  }
  const submitted = await submit();
  if (settleDelayMs === 0) await settle(context, submitted, leaseSignal);
}

function canStartHook({ hooks, lanes, fetchUserId }: SettlementWorkContext, { login, lane }: ClaimedPayment): boolean {
  const needsUserId = login && fetchUserId !== undefined;
  return (
    hooks.onPaid !== undefined && !hooks.verifyPayment && !needsUserId && lane === 'first' && lanes.isFree('first')
  );
}

/** The longest interval after a failed poll of a payment whose hook is due, or whose reversal must be confirmed. */
const failedPollCapMs = 5 * 60_000;

/** If the service does not answer, the payment keeps its state and is polled again later. */
async function fetchStatusOrPollLater(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  signal: AbortSignal,
): Promise<SequencerStatus | undefined> {
  try {
    return await context.fetchStatus(claimed.payment.id, { signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof IntentError ? error.code : errorText(error);
    const capMs = claimed.state === 'submitted' || claimed.reversalSuspected ? failedPollCapMs : undefined;
    await pollLater(context, claimed, reason, { ...claimed, capMs });
    return undefined;
  }
}

const unknownToService =
  'The sequencer no longer knows the intent. Ask the operator of the sequencer whether it was paid.';

async function watchUnpaid(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { exists }: SequencerStatus,
): Promise<void> {
  const { db, settings, timing, observer } = context;
  const wasExpired = claimed.state === 'expired';
  // It expired too early, while the clock of the database was ahead.
  if (wasExpired && claimed.ageMs < settings.watchMs) {
    const changes = `state = 'created', due_at = now() + $4::float8 * interval '1 millisecond',
      watch_until = now() + $5::float8 * interval '1 millisecond', ${endClaimSql}`;
    await updateClaimed(db, claimed, changes, [
      untilNextPollMs(claimed.ageMs, timing),
      settings.watchMs - claimed.ageMs,
    ]);
  } else if (!claimed.watchExpired) {
    await pollLater(context, claimed, exists ? undefined : unknownToService);
  } else if (wasExpired) {
    await updateClaimed(db, claimed, `due_at = null, ${endClaimSql}`);
  } else {
    const changes = `state = 'expired', due_at = ${jitteredDueAtSql('$4')},
      watch_until = now() + $5::float8 * interval '1 millisecond', ${endClaimSql}`;
    await updateClaimed(db, claimed, changes, [timing.watchCapMs, settings.watchMs]);
    observer?.emit({ type: 'payment_expired', intent: claimed.payment.id });
  }
}

/** A restore or a failover of the database can lose the confirmation. A paid intent was confirmed before. */
async function confirmPaid(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { intentSubmitted }: SequencerStatus,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, settings, timing } = context;
  if (intentSubmitted) {
    await confirmIntent(db, claimed.payment.id, { ...timing, ...settings });
    return submitPayment(context, { ...claimed, state: 'created' }, leaseSignal);
  }
  try {
    await updateClaimed(db, claimed, `due_at = null, ${endClaimSql}`);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    // The request that creates the intent has just confirmed it.
    await releaseClaims(db, [claimed]);
  }
}

/** A reversed payment can be paid again. It then settles like a created one. */
async function watchReversed(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { intentSubmitted }: SequencerStatus,
): Promise<void> {
  if (intentSubmitted) {
    context.logger.warn(
      `express-intents: the reversed payment ${claimed.payment.id} was submitted again. It settles again.`,
    );
    await updateClaimed(context.db, claimed, `state = 'created', ${clearFailuresSql}, due_at = now(), ${endClaimSql}`);
  } else if (claimed.watchExpired) {
    await updateClaimed(context.db, claimed, `due_at = null, ${endClaimSql}`);
  } else {
    await pollLater(context, claimed);
  }
}

interface PollLaterOptions extends Pick<ClaimedPayment, 'lane' | 'timeouts'> {
  readonly capMs?: number | undefined;
}

async function pollLater(
  { db, timing }: SettlementWorkContext,
  claimed: ClaimedPayment,
  lastError?: string,
  { lane, timeouts, capMs = Number.POSITIVE_INFINITY }: PollLaterOptions = claimed,
): Promise<void> {
  const byAgeMs = claimed.state === 'expired' ? timing.watchCapMs : untilNextPollMs(claimed.ageMs, timing);
  const intervalMs = Math.min(byAgeMs, capMs);
  await updateClaimed(
    db,
    claimed,
    `due_at = ${jitteredDueAtSql('$4')}, ${endClaimSql},
     last_error = coalesce($5, i.last_error), lane = $6, timeouts = $7`,
    [intervalMs, lastError ?? null, lane, timeouts],
  );
}

/** `ledger.settleDelayMs` after the payment was submitted, and before each retry of a hook, the service must confirm it. */
async function settleSubmitted(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { exists, intentSubmitted }: SequencerStatus,
  leaseSignal: AbortSignal,
): Promise<void> {
  if (intentSubmitted) return settle(context, claimed, leaseSignal);
  if (exists) {
    context.logger.warn(
      `express-intents: payment ${claimed.payment.id} was reversed before it settled. It is polled again.`,
    );
    await updateClaimed(
      context.db,
      claimed,
      `state = 'created', submitted_at = null, ${clearFailuresSql}, ${endClaimSql}`,
    );
    emitReversed(context, claimed);
    return;
  }
  // A service that does not know the intent may have lost its data: the payment keeps its state.
  if (claimed.watchExpired) {
    const reason = 'the sequencer no longer knows it, and `ledger.watch.unpaidMs` has passed';
    const cause = { hook: 'verifyPayment', error: new Error(unknownToService), reason } as const;
    return moveToDeadLetter(context, claimed, cause, leaseSignal);
  }
  context.logger.warn(
    `express-intents: payment ${claimed.payment.id} was submitted, but the sequencer no longer knows it. It is polled again, ` +
      'and becomes a dead letter after `ledger.watch.unpaidMs`. Ask the operator of the sequencer whether it was paid. (Without a state ' +
      'file, the simulator forgets all intents when its process ends.)',
  );
  await pollLater(context, claimed, unknownToService);
}

async function settle(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<void> {
  const payment = await withUserId(context, claimed, leaseSignal);
  await callOnPaid(context, { ...claimed, payment }, leaseSignal);
}

function callOnPaid(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
  begin?: HookCall['begin'],
): Promise<void> {
  const { hooks, settings, timing } = context;
  const firstReversalMs = settings.reversalWatchMs > 0 ? timing.reversalFirstMs : null;
  const call: HookCall = {
    name: 'onPaid',
    hook: hooks.onPaid,
    begin,
    verify: hooks.verifyPayment && ((begun) => isVerified(context, begun, leaseSignal)),
    changes: `state = 'settled', settled_at = now(), user_id = coalesce($4, i.user_id), ${clearFailuresSql},
      due_at = now() + $5::float8 * interval '1 millisecond', ${endClaimSql}`,
    values: [claimed.payment.userId ?? null, firstReversalMs],
  };
  return callHook(context, claimed, call, leaseSignal);
}

/** A payment settles even if the id of its payer cannot be read. */
async function withUserId(
  { fetchUserId, logger }: SettlementWorkContext,
  { payment, login }: ClaimedPayment,
  signal: AbortSignal,
): Promise<Payment> {
  if (!login || payment.userId !== undefined || !fetchUserId) return payment;
  try {
    return Object.freeze({ ...payment, userId: await fetchUserId(payment.id, { signal }) });
  } catch (error) {
    const reason = error instanceof IntentError ? error.code : errorText(error);
    logger.warn(
      `express-intents: the user id of payment ${payment.id} could not be read: ${reason}. The hooks are called without it.`,
    );
    return payment;
  }
}

async function isVerified(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<boolean> {
  const { payment } = claimed;
  const { verifyPayment } = context.hooks;
  let signalOfHook: AbortSignal | undefined;
  let refusal: unknown;
  try {
    const verify = async (signal: AbortSignal) => {
      signalOfHook = signal;
      claimed.progress.isHookCalled = true;
      const answer: unknown = await verifyPayment?.(payment, { signal });
      if (typeof answer === 'boolean') return answer;
      throw new TypeError(`verifyPayment returned ${answer === null ? 'null' : typeof answer}. Return true or false.`);
    };
    const isTrue = await callObserved(context, { hook: 'verifyPayment', payment, leaseSignal }, verify);
    refusal = isTrue ? undefined : new Error('verifyPayment did not return true.');
  } catch (error) {
    refusal = error ?? new Error('verifyPayment failed.');
    // `moveToDeadLetter` logs the last failure.
    if (!leaseSignal.aborted && !claimed.watchExpired) {
      const line = `express-intents: verifyPayment failed for payment ${payment.id}. It is called again later.`;
      context.logger.warn(line, describeError(error));
    }
  }
  leaseSignal.throwIfAborted();
  if (refusal === undefined) return true;
  const timeouts = claimed.timeouts + (signalOfHook?.aborted ? 1 : 0);
  const lane = laneAfterFailure(timeouts) === 'slow' ? 'slow' : 'first';
  if (claimed.watchExpired) {
    const reason = 'verifyPayment did not return true within `ledger.watch.unpaidMs`';
    const cause = { hook: 'verifyPayment', error: refusal, reason } as const;
    await moveToDeadLetter(context, { ...claimed, lane }, cause, leaseSignal);
  } else await pollLater(context, claimed, errorText(refusal), { lane, timeouts });
  return false;
}

/** One status may be an error of the service. A payment is reversed only if a second status confirms the first. */
async function checkReversal(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { exists, intentSubmitted }: SequencerStatus,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { db, hooks, settings, timing, logger } = context;
  if (!exists && claimed.reversalSuspected) return watchUnknownReversal(context, claimed, leaseSignal);
  if (intentSubmitted || !exists) {
    // The contrary status may be an error of the service as well, so it is checked soon.
    const nextMs = claimed.reversalSuspected
      ? timing.reversalConfirmMs
      : untilReversalPollMs(claimed.ageMs, settings.reversalWatchMs, timing);
    const changes = `reversal_suspected_at = null, ${clearFailuresSql}, ${endClaimSql},
      due_at = now() + $4::float8 * interval '1 millisecond'`;
    await updateClaimed(db, claimed, changes, [nextMs ?? null]);
    return;
  }
  if (!claimed.reversalSuspected) {
    const changes = `reversal_suspected_at = now(), ${endClaimSql}, due_at = now() + $4::float8 * interval '1 millisecond',
      watch_until = greatest(i.watch_until, now() + $5::float8 * interval '1 millisecond')`;
    await updateClaimed(db, claimed, changes, [timing.reversalConfirmMs, settings.watchMs]);
    return;
  }
  const next = hooks.onReversed ? 'onReversed is called.' : 'No onReversed hook is set. Undo the order manually.';
  logger.error(`express-intents: payment ${claimed.payment.id} was reversed after it had settled. ${next}`);
  await callHook(
    context,
    claimed,
    {
      name: 'onReversed',
      hook: hooks.onReversed,
      changes: `state = 'reversed', reversed_at = now(), reversal_suspected_at = null, ${clearFailuresSql},
        due_at = now() + $4::float8 * interval '1 millisecond', ${endClaimSql},
        watch_until = greatest(i.watch_until, now() + $5::float8 * interval '1 millisecond')`,
      values: [timing.watchFirstMs, settings.watchMs],
    },
    leaseSignal,
  );
}

/** The service has reported a reversal, and no longer knows the intent: it may have lost its data. The suspicion remains. */
async function watchUnknownReversal(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  leaseSignal: AbortSignal,
): Promise<void> {
  if (claimed.watchExpired) {
    const reason = 'the sequencer reported a reversal, and no longer knows the payment';
    const cause = { hook: 'onReversed', error: new Error(unknownToService), reason } as const;
    return moveToDeadLetter(context, claimed, cause, leaseSignal);
  }
  context.logger.warn(
    `express-intents: the sequencer reported payment ${claimed.payment.id} as reversed, and no longer knows it. It is polled ` +
      'again, and becomes a dead letter after `ledger.watch.unpaidMs`. Ask the operator of the sequencer whether it was reversed.',
  );
  await pollLater(context, claimed, unknownToService);
}
