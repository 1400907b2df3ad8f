import { IntentError } from '../../errors.js';
import { formatAmount, type Money, parseMoney } from '../../intents/money.js';
import { isResource, requireResource } from '../create-intent/recorded-terms.js';

/** What has to be paid for. */
export interface RequiredPayment {
  /** The same that the `payment` hook names in its terms: 1 to 200 characters, such as `article:tea`. */
  readonly resource: string;
  /** What a payment must have come to at least, with `currency`. Without it any payment for the resource counts. */
  readonly amount?: string | number | undefined;
  /** Lowercase three-letter code that a payment must be in. Default: any. */
  readonly currency?: string | undefined;
  /** What a page sends as `order` to pay for it; the `payment` hook looks it up. Told in the answer, as JSON. */
  readonly order?: unknown;
}

/** The same, read and checked. */
export interface PaymentDemand {
  readonly resource: string;
  readonly money: Money | undefined;
  readonly currency: string | undefined;
  readonly order: unknown;
}

/** @throws {IntentError} `invalid_configuration`, and `invalid_request` where a visitor has typed what can be no resource */
export function parseRequiredPayment(required: RequiredPayment): PaymentDemand {
  if (typeof required !== 'object' || required === null) throw wrong('it must return { resource }.');
  const { resource, amount, currency, order } = required;
  if (amount !== undefined && currency === undefined) throw wrong('an amount needs a currency.');
  // A part of the path is often a part of the resource.
  if (typeof resource === 'string' && resource !== '' && !isResource(resource)) {
    throw new IntentError('invalid_request', 'The address of this page is none that can be paid for.');
  }
  return { resource: requireResource(resource), money: parseAmount(amount, currency), currency, order };
}

/** Decimal with two places. */
export function amountOf({ money }: PaymentDemand): string | undefined {
  return money && formatAmount(money);
}

function parseAmount(amount: string | number | undefined, currency: string | undefined): Money | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  try {
    return parseMoney(amount, currency);
  } catch (error) {
    // Its own code would be the visitor's fault.
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(problem: string): IntentError {
  return new IntentError('invalid_configuration', `What requirePayment asks for cannot be: ${problem}`);
}
