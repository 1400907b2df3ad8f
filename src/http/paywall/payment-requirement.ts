import { IntentError, messageOf } from '../../errors.js';
import { currencyIndex } from '../../intents/currency.js';
import { formatAmount, type Money, parseMoney } from '../../intents/money.js';
import { requireKnown } from '../../reject-unknown.js';
import { isResource, requireResource } from '../create-intent/payment-terms.js';

/** The payment that a route requires. */
export interface RequiredPayment {
  /** The same string as in the terms of the `payment` hook: 1 to 200 characters, such as `article:tea`. */
  readonly resource: string;
  /** The minimum amount; requires `currency`. Default: any payment for the resource. */
  readonly amount?: string | number | undefined;
  /** The currency of the payment, a lowercase three-letter code. Default: any. */
  readonly currency?: string | undefined;
  /** The `order` that a page sends to pay; the `payment` hook looks it up. Included in the 402 response as JSON. */
  readonly order?: unknown;
}

/** A checked `RequiredPayment`. */
export interface ParsedRequirement {
  readonly resource: string;
  readonly money: Money | undefined;
  readonly currency: string | undefined;
  readonly order: unknown;
}

/** @throws {IntentError} `invalid_configuration`; `invalid_request` for a resource that no payment can unlock */
export function parseRequiredPayment(required: RequiredPayment): ParsedRequirement {
  if (typeof required !== 'object' || required === null)
    throw invalidRequirement('pass { resource }, or a function that returns it.');
  requireKnown('requirePayment', required, ['resource', 'amount', 'currency', 'order'], 'invalid_configuration');
  const { resource, amount, currency, order } = required;
  if (amount !== undefined && currency === undefined) throw invalidRequirement('an amount requires a currency.');
  // Part of the resource often comes from the path, which the visitor controls.
  if (typeof resource === 'string' && resource !== '' && !isResource(resource)) {
    throw new IntentError(
      'invalid_request',
      'No payment can unlock this URL, because its resource is too long, or contains NUL or lone surrogates. Correct the URL.',
    );
  }
  return { resource: requireResource(resource), money: parseAmount(amount, currency), currency, order };
}

export function formatRequiredAmount({ money }: ParsedRequirement): string | undefined {
  return money && formatAmount(money);
}

function parseAmount(amount: string | number | undefined, currency: string | undefined): Money | undefined {
  if (currency === undefined) return undefined;
  try {
    currencyIndex(currency);
    return amount === undefined ? undefined : parseMoney(amount, currency);
  } catch (error) {
    // The original error has a 4xx status, but the site made the mistake.
    throw invalidRequirement(messageOf(error));
  }
}

function invalidRequirement(problem: string): IntentError {
  return new IntentError('invalid_configuration', `requirePayment is misconfigured: ${problem}`);
}
