import { setTimeout as delay } from 'node:timers/promises';
import { withAbort } from '../../async/timeout.js';
import { parseMoney } from '../../intents/money.js';
import type { Ledger, LedgerIntent } from '../../ledger/ledger.js';
import type { Payment } from '../../ledger/payment.js';
import { pendingMs, type StatusCache } from '../../sequencer/watch/status-cache.js';
import type { PaymentDemand } from './payment-demand.js';

/** How many submitted payments are settled, newest first. Of the open ones, which cost a call, only the newest is checked. */
const maxSubmitted = 5;
/** After this a cached status has expired; timers may fire slightly early. */
const cacheExpiryMs = pendingMs + 10;

export interface PaymentSearch {
  readonly ledger: Ledger;
  readonly statusCache: StatusCache;
  /** Hash of the browser's cookie. */
  readonly browser: Uint8Array;
  readonly demand: PaymentDemand;
  /** How long a payment that may have been submitted is given to settle. */
  readonly settleWaitMs: number;
  /** Called before a call to the service. @throws {IntentError} `rate_limited` */
  readonly beforeCall?: () => Promise<void> | undefined;
}

/**
 * A settled payment of this browser that meets the demand; undefined where there is none. A submitted one is given time to
 * settle.
 * @throws {IntentError} `ledger_unavailable` @throws what `beforeCall` throws
 */
export async function findPayment(search: PaymentSearch): Promise<Payment | undefined> {
  const payments = await sufficientPayments(search);
  const paid = settledOf(payments);
  const open = payments.filter(({ state }) => state === 'open').slice(0, 1);
  const submitted = payments.filter(({ state }) => state === 'submitted').slice(0, maxSubmitted);
  if (paid || open.length + submitted.length === 0) return paid;
  if (open.length > 0) await search.beforeCall?.();
  const mayBePaid = await settleNow(search, [...submitted, ...open]);
  return mayBePaid ? settledOf(await sufficientPayments(search)) : undefined;
}

async function sufficientPayments({ ledger, browser, demand }: PaymentSearch): Promise<readonly LedgerIntent[]> {
  const payments = await ledger.paymentsFor(browser, demand.resource);
  return payments.filter((payment) => isSufficient(payment, demand));
}

function isSufficient({ amount, currency }: LedgerIntent, demand: PaymentDemand): boolean {
  if (amount === undefined || currency === undefined) return false;
  if (demand.currency !== undefined && currency !== demand.currency) return false;
  return demand.money === undefined || parseMoney(amount, currency).hundredths >= demand.money.hundredths;
}

function settledOf(intents: readonly LedgerIntent[]): Payment | undefined {
  const intent = intents.find(({ state }) => state === 'settled');
  if (!intent) return undefined;
  const { id, amount, currency, destination, metadata, resource, userId, createdAt, submittedAt } = intent;
  if (amount === undefined || currency === undefined || destination === undefined || !submittedAt) return undefined;
  return Object.freeze({ id, amount, currency, destination, metadata, resource, userId, createdAt, submittedAt });
}

/** Settles the submitted payments, within bounded time. Returns whether there may be a settled one now. */
async function settleNow(
  { ledger, statusCache, settleWaitMs }: PaymentSearch,
  pending: readonly LedgerIntent[],
): Promise<boolean> {
  const signal = AbortSignal.timeout(settleWaitMs);
  const settle = async ({ id, state }: LedgerIntent): Promise<boolean> => {
    // A visitor who has not paid and reloads the page costs a shared status call, and no write.
    if (state === 'open' && !(await isSubmitted(statusCache, id, signal))) return false;
    await withAbort(signal, () => ledger.recheck(id));
    return true;
  };
  const settled = await Promise.allSettled(pending.map(settle));
  return settled.some((result) => result.status === 'rejected' || result.value);
}

/**
 * A cached status may be from before the payment. It is waited for until it expires, and not bypassed, so that reloads of a page
 * cause at most a few calls to the service a second.
 */
async function isSubmitted(statusCache: StatusCache, id: string, signal: AbortSignal): Promise<boolean> {
  if (statusCache.peek(id)?.intentSubmitted === false) await delay(cacheExpiryMs, undefined, { signal, ref: false });
  return (await statusCache.get(id, { signal })).intentSubmitted;
}
