import { setTimeout as delay } from 'node:timers/promises';
import { withAbort } from '../../async/timeout.js';
import { parseMoney } from '../../intents/money.js';
import type { Ledger, LedgerIntent } from '../../ledger/ledger.js';
import type { Payment } from '../../ledger/payment.js';
import { pendingMs, type StatusCache } from '../../sequencer/watch/status-cache.js';
import type { PaymentDemand } from './required-payment.js';

/** How many submitted payments are looked at, the newest first. Of the open ones, which cost a call, it is the newest alone. */
const maxSubmitted = 5;
/** After it no answer counts that was there before; timers may be a moment early. */
const outdatedMs = pendingMs + 10;

export interface PaymentSearch {
  readonly ledger: Ledger;
  readonly statusCache: StatusCache;
  /** Hash of the browser's cookie. */
  readonly browser: Uint8Array;
  readonly demand: PaymentDemand;
  /** How long somebody waits who may have paid just now, in milliseconds. */
  readonly waitMs: number;
  /** Called before the service is asked. @throws {IntentError} `rate_limited` */
  readonly beforeAsking?: () => Promise<void> | undefined;
}

/**
 * A settled payment of this browser that comes up to the demand; undefined where there is none. One that was submitted just
 * now is given the time to settle.
 * @throws {IntentError} `ledger_unavailable` @throws what `beforeAsking` throws
 */
export async function findPayment(search: PaymentSearch): Promise<Payment | undefined> {
  const { ledger, browser, demand } = search;
  const known = (await ledger.paymentsFor(browser, demand.resource)).filter((intent) => isEnough(intent, demand));
  const paid = settledOf(known);
  const open = known.filter(({ state }) => state === 'open').slice(0, 1);
  const submitted = known.filter(({ state }) => state === 'submitted').slice(0, maxSubmitted);
  if (paid || open.length + submitted.length === 0) return paid;
  if (open.length > 0) await search.beforeAsking?.();
  if (!(await settleNow(search, [...submitted, ...open]))) return undefined;
  const then = await ledger.paymentsFor(browser, demand.resource);
  return settledOf(then.filter((intent) => isEnough(intent, demand)));
}

function isEnough({ amount, currency }: LedgerIntent, demand: PaymentDemand): boolean {
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

/** Has those settle that were submitted, within bounded time. Whether there was one. */
async function settleNow(
  { ledger, statusCache, waitMs }: PaymentSearch,
  pending: readonly LedgerIntent[],
): Promise<boolean> {
  const signal = AbortSignal.timeout(waitMs);
  const settle = async ({ id, state }: LedgerIntent): Promise<boolean> => {
    // Who looks at a page again and again makes nobody write: those who have not paid cost a question that is shared.
    if (state === 'open' && !(await isSubmitted(statusCache, id, signal))) return false;
    await withAbort(signal, () => ledger.recheck(id));
    return true;
  };
  const settled = await Promise.allSettled(pending.map(settle));
  return settled.some((result) => result.status === 'rejected' || result.value);
}

/**
 * What was answered a moment ago may be from before the payment. It is waited for until it counts no more, instead of asking
 * past it: however often somebody looks, the service is asked a few times a second.
 */
async function isSubmitted(statusCache: StatusCache, id: string, signal: AbortSignal): Promise<boolean> {
  if (statusCache.peek(id)?.intentSubmitted === false) await delay(outdatedMs, undefined, { signal, ref: false });
  return (await statusCache.get(id, { signal })).intentSubmitted;
}
