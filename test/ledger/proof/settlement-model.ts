import type { IntentState } from '../../../src/ledger/ledger.js';
import type { Answer } from './evidence.js';

// A simple model of the ledger: no database, no process, one step after the other.

/** All durations and times are milliseconds; times are since 1970. */
export interface ModelSettings {
  readonly settleDelayMs: number;
  readonly watchMs: number;
  readonly reversalWatchMs: number;
  readonly hookAttempts: number;
  readonly watchFirstMs: number;
  readonly watchGrowth: number;
  readonly watchCapMs: number;
  readonly retryFirstMs: number;
  readonly retryCapMs: number;
  readonly reversalFirstMs: number;
  readonly reversalConfirmMs: number;
  readonly leaseMs: number;
}

type HookName = 'onPaid' | 'onReversed';

/** The expected row of a payment. */
export interface ModelIntent {
  readonly state: IntentState;
  readonly due: number | undefined;
  readonly leasedUntil: number | undefined;
  readonly attempts: number;
  /** `quarantine` if its next hook runs while no other does, because one was interrupted. */
  readonly lane: 'first' | 'retry' | 'slow' | 'quarantine';
  readonly runningHook: HookName | undefined;
  readonly created: number;
  readonly watchUntil: number;
  readonly submitted: number | undefined;
  readonly settled: number | undefined;
  readonly isReversalSuspected: boolean;
  readonly deadLetterHook: string | undefined;
  /** The expected number of effects of each hook. */
  readonly paidEffects: number;
  readonly reversedEffects: number;
}

/** The environment of a poll. */
export interface Environment {
  readonly now: number;
  readonly settings: ModelSettings;
  readonly answer: Answer;
  readonly hookFails: boolean;
}

export function newIntent(now: number, { watchFirstMs, watchMs }: ModelSettings): ModelIntent {
  return {
    ...{ state: 'created', created: now, due: now + watchFirstMs, watchUntil: now + watchMs, leasedUntil: undefined },
    ...{ lane: 'first', runningHook: undefined },
    ...{ attempts: 0, submitted: undefined, settled: undefined, isReversalSuspected: false, deadLetterHook: undefined },
    ...{ paidEffects: 0, reversedEffects: 0 },
  };
}

export const isFree = ({ leasedUntil }: ModelIntent, now: number): boolean =>
  leasedUntil === undefined || leasedUntil <= now;

export const isDue = (intent: ModelIntent, now: number): boolean =>
  isFree(intent, now) && intent.due !== undefined && intent.due <= now;

/** The result of a manual retry; undefined if it cannot be retried. */
export function retried(intent: ModelIntent, now: number, { watchMs }: ModelSettings): ModelIntent | undefined {
  const { state, deadLetterHook } = intent;
  if (state !== 'dead' && state !== 'expired' && state !== 'reversed') return undefined;
  const resumed = deadLetterHook === 'onReversed' ? 'settled' : 'submitted';
  return {
    ...intent,
    ...{
      state: state === 'dead' ? resumed : 'created',
      deadLetterHook: undefined,
      attempts: 0,
      due: now,
      leasedUntil: undefined,
    },
    watchUntil: Math.max(intent.watchUntil, now + watchMs),
  };
}

/** The states of a payment during a poll, one after each write. A crash leaves any of them. */
export function* poll(intent: ModelIntent, around: Environment): Generator<ModelIntent> {
  const { now, settings, answer } = around;
  const claimed = { ...intent, leasedUntil: now + settings.leaseMs };
  yield claimed;
  if (intent.runningHook) return yield* afterCrash(claimed, intent.runningHook, around);
  const watchExpired = intent.watchUntil <= now;
  if (answer === 'nothing') return yield later(claimed, around, isUrgent(claimed) ? failedPollCapMs : undefined);
  if (intent.state === 'settled') return yield* checkReversal(claimed, around);
  if (intent.state === 'reversed') {
    if (answer === 'submitted')
      return yield {
        ...claimed,
        ...{ state: 'created', attempts: 0, lane: 'first', due: now },
        leasedUntil: undefined,
      };
    return yield watchExpired ? ended(claimed, 'reversed') : later(claimed, around);
  }
  if (intent.state === 'created' || intent.state === 'expired') {
    if (answer !== 'submitted') return yield watchExpired ? watchEnded(claimed, around) : later(claimed, around);
    const delayed = settings.settleDelayMs > 0;
    const submitted: ModelIntent = {
      ...claimed,
      ...{ state: 'submitted', submitted: now, attempts: 0 },
      // A due payment stays due.
      due: delayed ? now + settings.settleDelayMs : Math.min(now, intent.due ?? now),
      watchUntil: Math.max(intent.watchUntil, now + settings.settleDelayMs + settings.watchMs),
      leasedUntil: delayed ? undefined : claimed.leasedUntil,
    };
    yield submitted;
    return delayed ? undefined : yield* settle(submitted, around);
  }
  if (answer === 'submitted') return yield* settle(claimed, around);
  if (answer === 'not submitted') {
    return yield {
      ...claimed,
      ...{ state: 'created', submitted: undefined, attempts: 0, lane: 'first', leasedUntil: undefined },
    };
  }
  yield watchExpired ? { ...ended(claimed, 'dead'), deadLetterHook: 'verifyPayment' } : later(claimed, around);
}

/** The longest interval after a failed poll of a payment whose hook is due, or whose reversal must be confirmed. */
const failedPollCapMs = 300_000;
const isUrgent = ({ state, isReversalSuspected }: ModelIntent): boolean => state === 'submitted' || isReversalSuspected;

/** Polls an expired payment daily for as long again, and then no more. */
const watchEnded = (intent: ModelIntent, { now, settings }: Environment): ModelIntent =>
  intent.state === 'expired'
    ? ended(intent, 'expired')
    : {
        ...ended(intent, 'expired'),
        ...{ due: now + settings.watchCapMs, watchUntil: now + settings.watchMs },
      };

const ended = (intent: ModelIntent, state: IntentState): ModelIntent => ({
  ...intent,
  ...{ state, due: undefined, leasedUntil: undefined },
});

function later(intent: ModelIntent, { now, settings }: Environment, capMs = Number.POSITIVE_INFINITY): ModelIntent {
  const ageMs = now - (intent.settled ?? intent.submitted ?? intent.created);
  const growing = Math.min(Math.max(settings.watchFirstMs, settings.watchGrowth * ageMs), settings.watchCapMs);
  const waitMs = intent.state === 'expired' ? settings.watchCapMs : growing;
  return { ...intent, due: now + Math.min(waitMs, capMs), leasedUntil: undefined };
}

function* settle(intent: ModelIntent, around: Environment): Generator<ModelIntent> {
  const { now, settings } = around;
  yield* callHook(intent, 'onPaid', around, (called) => ({
    ...called,
    ...{ state: 'settled', settled: now, attempts: 0, lane: 'first', leasedUntil: undefined, runningHook: undefined },
    due: settings.reversalWatchMs > 0 ? now + settings.reversalFirstMs : undefined,
    paidEffects: called.paidEffects + 1,
  }));
}

function* checkReversal(intent: ModelIntent, around: Environment): Generator<ModelIntent> {
  const { now, settings, answer } = around;
  const ageMs = now - (intent.settled ?? 0);
  if (answer === 'unknown' && intent.isReversalSuspected) {
    if (intent.watchUntil > now) return yield later(intent, around);
    return yield { ...ended(intent, 'dead'), deadLetterHook: 'onReversed' };
  }
  if (answer !== 'not submitted') {
    const byAge = ageMs < settings.reversalWatchMs ? now + Math.max(settings.reversalFirstMs, ageMs) : undefined;
    const due = intent.isReversalSuspected ? now + settings.reversalConfirmMs : byAge;
    return yield { ...intent, isReversalSuspected: false, attempts: 0, lane: 'first', leasedUntil: undefined, due };
  }
  if (!intent.isReversalSuspected)
    return yield {
      ...intent,
      isReversalSuspected: true,
      leasedUntil: undefined,
      due: now + settings.reversalConfirmMs,
      watchUntil: Math.max(intent.watchUntil, now + settings.watchMs),
    };
  yield* callHook(intent, 'onReversed', around, (called) => ({
    ...called,
    ...{ state: 'reversed', due: now + settings.watchFirstMs, leasedUntil: undefined },
    watchUntil: Math.max(called.watchUntil, now + settings.watchMs),
    ...{
      attempts: 0,
      lane: 'first',
      runningHook: undefined,
      isReversalSuspected: false,
      reversedEffects: called.reversedEffects + 1,
    },
  }));
}

function* callHook(
  intent: ModelIntent,
  hook: HookName,
  around: Environment,
  succeed: (called: ModelIntent) => ModelIntent,
): Generator<ModelIntent> {
  const called: ModelIntent = { ...intent, runningHook: hook };
  yield called;
  yield around.hookFails ? charged(called, hook, around, 'retry') : succeed(called);
}

/** An interrupted call is charged only in quarantine. The next call runs in quarantine. */
function* afterCrash(intent: ModelIntent, hook: HookName, around: Environment): Generator<ModelIntent> {
  if (intent.lane === 'quarantine') return yield charged(intent, hook, around, 'quarantine');
  yield { ...intent, lane: 'quarantine', due: around.now, leasedUntil: undefined, runningHook: undefined };
}

function charged(
  intent: ModelIntent,
  deadLetterHook: string,
  { now, settings }: Environment,
  lane: ModelIntent['lane'],
): ModelIntent {
  const failed = { ...intent, attempts: intent.attempts + 1, lane, leasedUntil: undefined, runningHook: undefined };
  if (failed.attempts >= settings.hookAttempts) return { ...ended(failed, 'dead'), deadLetterHook };
  const waitMs = Math.min(settings.retryFirstMs * 2 ** (failed.attempts - 1), settings.retryCapMs);
  return { ...failed, due: now + waitMs };
}
