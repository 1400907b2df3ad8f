import type { Request } from 'express';
import { ConfigError, IntentError } from '../../errors.js';
import { type Money, parseMoney } from '../../intents/money.js';
import type { ClientAmount, Hooks, SitePaymentTerms } from '../hooks.js';
import type { IntentRequestBody } from './intent-request.js';

/** The terms of the payment a request asks for: those of the site, with at most the amount from the browser. */
export type TermsOf = (req: Request, body: IntentRequestBody) => Promise<SitePaymentTerms>;

/**
 * Makes of the site's hooks what sets the terms; undefined where the site takes no payments.
 * @throws {ConfigError} when `clientAmount` is no range
 */
export function paymentTerms({ payment, clientAmount }: Hooks): TermsOf | undefined {
  if (!clientAmount) return payment && (async (req) => requireTerms(await payment(req)));
  const range = parseRange(clientAmount);
  return async (req, { amount }) => {
    if (amount === undefined) throw new IntentError('invalid_amount', 'The amount is missing.');
    requireInRange(amount, range);
    return { ...(await payment?.(req)), amount, currency: clientAmount.currency };
  };
}

/** A hook that forgot its answer would otherwise show as an error far from here. */
function requireTerms(terms: unknown): SitePaymentTerms {
  if (typeof terms === 'object' && terms !== null && 'amount' in terms && 'currency' in terms) {
    return terms as SitePaymentTerms;
  }
  throw new IntentError('invalid_configuration', 'The payment hook must return { amount, currency }.');
}

interface Range {
  readonly min: Money;
  readonly max: Money;
}

function parseRange({ min, max, currency }: ClientAmount): Range {
  try {
    const range = { min: parseMoney(min, currency), max: parseMoney(max, currency) };
    if (range.min.hundredths <= range.max.hundredths) return range;
  } catch (error) {
    throw wrongRange((error as Error).message);
  }
  throw wrongRange('min is over max.');
}

function wrongRange(problem: string): ConfigError {
  return new ConfigError([
    { setting: 'clientAmount', problem, mend: "clientAmount: { min: 1, max: 100, currency: 'usd' }" },
  ]);
}

function requireInRange(amount: string | number, { min, max }: Range): void {
  const { hundredths } = parseMoney(amount, min.currency);
  if (hundredths < min.hundredths) throw new IntentError('amount_too_small');
  if (hundredths > max.hundredths) throw new IntentError('amount_too_large');
}
