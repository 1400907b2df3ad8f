import { setTimeout as delay } from 'node:timers/promises';
import { withAbort } from '../../async/timeout.js';
import { parseHundredths } from '../../intents/money.js';
import type { Ledger, LedgerPayment, ResourcePayment } from '../../ledger/ledger.js';
import type { Payment } from '../../ledger/payment.js';
import { type StatusCache, unsubmittedTtlMs } from '../../sequencer/watch/status-cache.js';
import type { ParsedRequirement } from './payment-requirement.js';

/**
 * At most this many submitted payments are rechecked, newest first. Of the created ones only the newest is checked, because each
 * check costs a call.
 */
const maxSubmitted = 5;
/** A cached status has expired after this time. Timers may fire slightly early. */
const cacheExpiryMs = unsubmittedTtlMs + 10;
/** The interval between searches for a payment whose hook runs. */
const settlePollMs = 200;

export interface PaymentSearch {
  readonly ledger: Ledger;
  readonly statusCache: StatusCache;
  readonly browser: Uint8Array;
  readonly requirement: ParsedRequirement;
  readonly settleWaitMs: number;
  /** Called before a call to the service, or a wait for a hook. @throws {IntentError} `rate_limited` */
  readonly beforeCall?: () => Promise<void>;
}

export interface FoundPayment {
  /** A settled payment. */
  readonly paid: Payment | undefined;
  /** A submitted payment that is not settled, or a dead letter of `onPaid`. */
  readonly pending: LedgerPayment | undefined;
}

/**
 * Finds a sufficient payment of this browser. Waits some time for a submitted one to settle.
 * @throws {IntentError} `ledger_unavailable` @throws what `beforeCall` throws
 */
export async function findPayment(search: PaymentSearch): Promise<FoundPayment> {
  let payments = await sufficientPayments(search);
  const [created] = payments.filter(({ state }) => state === 'created');
  const submitted = payments.filter(({ state }) => state === 'submitted').slice(0, maxSubmitted);
  let reported: LedgerPayment | undefined;
  if (!settledOf(payments) && (created || submitted.length > 0)) {
    await search.beforeCall?.();
    const signal = AbortSignal.timeout(search.settleWaitMs);
    const [isReported, mayBePaid] = await recheckUnsettled(search, { created, submitted }, signal);
    if (isReported) reported = created;
    if (mayBePaid) payments = await waitUntilSettled(search, signal);
  }
  return { paid: settledOf(payments), pending: payments.find(isPending) ?? reported };
}

/** A dead letter of another hook is not pending: the payment was reversed, or could not be verified. */
function isPending({ state, deadLetterHook }: LedgerPayment): boolean {
  return state === 'submitted' || (state === 'dead' && deadLetterHook === 'onPaid');
}

/** A recheck does not wait for a hook that was already called, in this process or in another. */
async function waitUntilSettled(search: PaymentSearch, signal: AbortSignal): Promise<readonly ResourcePayment[]> {
  for (;;) {
    const payments = await sufficientPayments(search);
    // A payment that is due only later waits for `ledger.settleDelayMs`, or for the retry of a hook.
    const settlesSoon = ({ state, dueInMs }: ResourcePayment): boolean =>
      state === 'submitted' && dueInMs !== undefined && dueInMs < search.settleWaitMs;
    if (settledOf(payments) || signal.aborted || !payments.some(settlesSoon)) return payments;
    await delay(settlePollMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function sufficientPayments({
  ledger,
  browser,
  requirement,
}: PaymentSearch): Promise<readonly ResourcePayment[]> {
  const payments = await ledger.paymentsFor(browser, requirement.resource);
  return payments.filter((payment) => isSufficient(payment, requirement));
}

function isSufficient({ amount, currency }: LedgerPayment, requirement: ParsedRequirement): boolean {
  if (requirement.currency !== undefined && currency !== requirement.currency) return false;
  return requirement.money === undefined || parseHundredths(amount) >= requirement.money.hundredths;
}

function settledOf(intents: readonly LedgerPayment[]): Payment | undefined {
  const intent = intents.find(({ state }) => state === 'settled');
  if (!intent) return undefined;
  const { id, amount, currency, exact, destination, description, metadata, resource, userId, createdAt, submittedAt } =
    intent;
  if (!submittedAt) return undefined;
  const terms = { amount, currency, exact, destination, description, metadata, resource };
  return Object.freeze({ id, ...terms, userId, createdAt, submittedAt });
}

/**
 * Rechecks the submitted payments, and the created one if the service reports it as submitted.
 * @returns whether the service reports the created one as submitted, and whether any may be settled now, or soon
 */
async function recheckUnsettled(
  { ledger, statusCache }: PaymentSearch,
  { created, submitted }: { readonly created: LedgerPayment | undefined; readonly submitted: readonly LedgerPayment[] },
  signal: AbortSignal,
): Promise<readonly [isReported: boolean, mayBePaid: boolean]> {
  let isReported = false;
  const recheck = ({ id }: LedgerPayment): Promise<void> => withAbort(signal, () => ledger.recheck(id));
  const recheckCreated = async (payment: LedgerPayment): Promise<boolean> => {
    // A visitor who reloads without paying costs a shared status call and no write.
    isReported = await isSubmitted(statusCache, payment.id, signal);
    if (isReported) await recheck(payment);
    return isReported;
  };
  const rechecks = [...submitted.map(recheck), ...(created ? [recheckCreated(created)] : [])];
  const results = await Promise.allSettled(rechecks);
  return [isReported, results.some((result) => result.status === 'rejected' || result.value !== false)];
}

/** Waits until a cached status expires, instead of bypassing the cache: page reloads must cause few calls. */
async function isSubmitted(statusCache: StatusCache, id: string, signal: AbortSignal): Promise<boolean> {
  if (statusCache.peek(id)?.intentSubmitted === false) await delay(cacheExpiryMs, undefined, { signal, ref: false });
  return (await statusCache.get(id, { signal })).intentSubmitted;
}
