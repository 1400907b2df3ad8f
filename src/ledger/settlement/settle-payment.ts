import { describeError, errorText } from '../../describe-error.js';
import { IntentError } from '../../errors.js';
import { recordUserId } from '../intents/complete-login.js';
import { confirmIntent } from '../intents/record-intent.js';
import type { Payment } from '../payment.js';
import { callHook, type HookCall, handleInterrupted, moveToDeadLetter } from './call-hook.js';
import { releaseClaims } from './claim-payments.js';
import { type ClaimedPayment, LeaseLost, type RunningHook } from './claimed-payment.js';
import { laneAfterFailure } from './hook-lanes.js';
import type { SequencerStatus, SettlementWorkContext } from './settlement-context.js';
import { callObserved, emitReversed, emitSubmitted } from './settlement-events.js';
import { untilNextPollMs, untilReversalPollMs } from './settlement-timing.js';

/**
 * Processes a claimed payment by the states in `transitions.ts`, based only on the status that the sequencer
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
    const values = { due_ms: settleDelayMs, watch_ms: watchMs, hook: runningHook };
    const submittedMs = await context.writes.write(claimed, 'submit', values);
    const payment = Object.freeze({ ...claimed.payment, submittedAt: new Date(submittedMs) });
    const submittedAfterMs = submittedMs - payment.createdAt.getTime();
    const renewed = { state: 'submitted', attempts: 0, ageMs: 0, watchExpired: false } as const;
    const submitted: ClaimedPayment = { ...claimed, ...renewed, payment, runningHook, submittedAfterMs };
    context.notifySubmitted?.(payment.id);
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
    const isUrgent = claimed.state === 'submitted' || claimed.reversalSuspected;
    await failedPoll(context, claimed, reason, { capMs: isUrgent ? failedPollCapMs : Number.POSITIVE_INFINITY });
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
  const { writes, settings, timing, observer } = context;
  const wasExpired = claimed.state === 'expired';
  // It expired too early, while the clock of the database was ahead.
  if (wasExpired && claimed.ageMs < settings.watchMs) {
    const watchLeftMs = settings.watchMs - claimed.ageMs;
    await writes.write(claimed, 'resume', { due_ms: untilNextPollMs(claimed.ageMs, timing), watch_ms: watchLeftMs });
  } else if (!claimed.watchExpired) {
    await (exists ? pollLater(context, claimed) : failedPoll(context, claimed, unknownToService));
  } else if (wasExpired) {
    await writes.write(claimed, 'endWatch');
  } else {
    await writes.write(claimed, 'expire', { due_ms: timing.watchCapMs, watch_ms: settings.watchMs });
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
  const { db, writes, settings, timing } = context;
  if (intentSubmitted) {
    await confirmIntent(db, claimed.payment.id, { ...timing, ...settings });
    return submitPayment(context, { ...claimed, state: 'created' }, leaseSignal);
  }
  try {
    await writes.write(claimed, 'endWatch');
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
    await context.writes.write(claimed, 'payAgain');
  } else if (claimed.watchExpired) {
    await context.writes.write(claimed, 'endWatch');
  } else {
    await pollLater(context, claimed);
  }
}

const untilPollMs = ({ timing }: SettlementWorkContext, { state, ageMs }: ClaimedPayment): number =>
  state === 'expired' ? timing.watchCapMs : untilNextPollMs(ageMs, timing);

async function pollLater(context: SettlementWorkContext, claimed: ClaimedPayment): Promise<void> {
  await context.writes.write(claimed, 'poll', { due_ms: untilPollMs(context, claimed) });
}

interface FailedPollOptions extends Partial<Pick<ClaimedPayment, 'lane' | 'timeouts'>> {
  readonly capMs?: number;
}

/** Polls again later, and records why. No attempt is counted. */
async function failedPoll(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  error: string,
  { capMs = Number.POSITIVE_INFINITY, ...changes }: FailedPollOptions = {},
): Promise<void> {
  const intervalMs = Math.min(untilPollMs(context, claimed), capMs);
  await context.writes.write(claimed, 'fail', { error, due_ms: intervalMs, ...changes });
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
    await context.writes.write(claimed, 'reopen');
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
  await failedPoll(context, claimed, unknownToService);
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
    change: 'settle',
    values: { due_ms: firstReversalMs },
  };
  return callHook(context, claimed, call, leaseSignal);
}

/** A payment settles even if the id of its payer cannot be read. */
async function withUserId(
  { db, fetchUserId, logger }: SettlementWorkContext,
  { payment, login }: ClaimedPayment,
  signal: AbortSignal,
): Promise<Payment> {
  if (!login || payment.userId !== undefined || !fetchUserId) return payment;
  const userId = await fetchUserId(payment.id, { signal }).catch((error) => {
    const reason = error instanceof IntentError ? error.code : errorText(error);
    logger.warn(
      `express-intents: the user id of payment ${payment.id} could not be read: ${reason}. The hooks are called without it.`,
    );
    return undefined;
  });
  if (userId === undefined) return payment;
  await recordUserId(db, payment.id, userId);
  return Object.freeze({ ...payment, userId });
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
  } else await failedPoll(context, claimed, errorText(refusal), { lane, timeouts });
  return false;
}

/** One status may be an error of the service. A payment is reversed only if a second status confirms the first. */
async function checkReversal(
  context: SettlementWorkContext,
  claimed: ClaimedPayment,
  { exists, intentSubmitted }: SequencerStatus,
  leaseSignal: AbortSignal,
): Promise<void> {
  const { writes, hooks, settings, timing, logger } = context;
  if (!exists && claimed.reversalSuspected) return watchUnknownReversal(context, claimed, leaseSignal);
  if (intentSubmitted || !exists) {
    // The contrary status may be an error of the service as well, so it is checked soon.
    const nextMs = claimed.reversalSuspected
      ? timing.reversalConfirmMs
      : untilReversalPollMs(claimed.ageMs, settings.reversalWatchMs, timing);
    await writes.write(claimed, 'trust', { due_ms: nextMs });
    return;
  }
  if (!claimed.reversalSuspected) {
    await writes.write(claimed, 'suspect', { due_ms: timing.reversalConfirmMs, watch_ms: settings.watchMs });
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
      change: 'reverse',
      values: { due_ms: timing.watchFirstMs, watch_ms: settings.watchMs },
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
  await failedPoll(context, claimed, unknownToService);
}
