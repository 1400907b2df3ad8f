import { IntentError, messageOf } from '../../errors.js';
import { formatAmount, type Money, parseMoney } from '../../intents/money.js';
import { requireKnown } from '../../known-names.js';
import { isResource, requireResource } from '../create-intent/payment-terms.js';

/** What has to be paid for. */
export interface RequiredPayment {
  /** The same text as in the terms of the `payment` hook: 1 to 200 characters, such as `article:tea`. */
  readonly resource: string;
  /** The least that must have been paid, with `currency`. Without it any payment for the resource counts. */
  readonly amount?: string | number | undefined;
  /** The currency of the payment, a lowercase three-letter code. Default: any. */
  readonly currency?: string | undefined;
  /** What a page sends as `order` to pay for it; the `payment` hook looks it up. Part of the 402 answer, as JSON. */
  readonly order?: unknown;
}

/** A required payment, parsed. */
export interface PaymentDemand {
  readonly resource: string;
  readonly money: Money | undefined;
  readonly currency: string | undefined;
  readonly order: unknown;
}

/** @throws {IntentError} `invalid_configuration`; `invalid_request` for a resource that no payment can unlock */
export function parseRequiredPayment(required: RequiredPayment): PaymentDemand {
  if (typeof required !== 'object' || required === null) throw invalidDemand('it must return { resource }.');
  requireKnown('requirePayment', required, ['resource', 'amount', 'currency', 'order'], 'invalid_configuration');
  const { resource, amount, currency, order } = required;
  if (amount !== undefined && currency === undefined) throw invalidDemand('an amount needs a currency.');
  // Part of the resource often comes from the path, which a visitor can type.
  if (typeof resource === 'string' && resource !== '' && !isResource(resource)) {
    throw new IntentError('invalid_request', 'The address of this page is none that can be paid for.');
  }
  return { resource: requireResource(resource), money: parseAmount(amount, currency), currency, order };
}

/** Decimal with two places. */
export function formatDemandedAmount({ money }: PaymentDemand): string | undefined {
  return money && formatAmount(money);
}

function parseAmount(amount: string | number | undefined, currency: string | undefined): Money | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  try {
    return parseMoney(amount, currency);
  } catch (error) {
    // The code of this error would blame the visitor.
    throw invalidDemand(messageOf(error));
  }
}

function invalidDemand(problem: string): IntentError {
  return new IntentError('invalid_configuration', `The required payment is invalid: ${problem}`);
}
