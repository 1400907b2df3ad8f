import { IntentError } from '../errors.js';
import { currencyIndex } from './currency.js';

/** An amount of money in hundredths of its currency's unit. */
export interface Money {
  /** Lowercase three-letter code. */
  readonly currency: string;
  /** 1 to {@link maxHundredths}. */
  readonly hundredths: bigint;
}

/** A quark is the smallest part of the native unit. */
export const quarksPerUnit = 100_000n;

/**
 * The last hundredth below 2^46 units. `native_amount` is a double: from 2^46 on, doubles are further apart than hundredths. The
 * payload could hold more (protocol section 2), and its quarks fit 64 bits.
 */
const maxHundredths = 2n ** 46n * 100n - 1n;

/** 0.05 usd (interface section 8). For other currencies the smallest amount in a payload. */
const minHundredths = (currency: string): bigint => (currency === 'usd' ? 5n : 1n);

// Without sign, exponent or leading zeros. A number is formatted first, so 1e21 and 0.1 + 0.2 do not match.
const decimalForm = /^(0|[1-9]\d{0,17})(?:\.(\d{1,2}))?$/;

/**
 * Parses an amount and its currency without floating point. It never rounds.
 *
 * @param amount a decimal string or a number, with at most two decimal places
 * @throws {IntentError} `invalid_amount`, `amount_too_small`, `amount_too_large`, `unknown_currency`
 */
export function parseMoney(amount: string | number, currency: string): Money {
  currencyIndex(currency);
  const hundredths = parseHundredths(amount);
  checkLimits({ currency, hundredths });
  return { currency, hundredths };
}

/** Exported for tests. @throws {IntentError} `amount_too_small` or `amount_too_large` (interface section 8) */
export function checkLimits({ currency, hundredths }: Money): void {
  const minimum = minHundredths(currency);
  if (hundredths < minimum) {
    throw new IntentError('amount_too_small', `The minimum is ${formatHundredths(minimum)} ${currency}.`);
  }
  if (hundredths > maxHundredths) {
    throw new IntentError(
      'amount_too_large',
      `The amount exceeds the maximum, ${formatHundredths(maxHundredths)} ${currency}. Check that it is in units such as dollars, not in cents.`,
    );
  }
}

export function formatAmount({ hundredths }: Money): string {
  return formatHundredths(hundredths);
}

/** The double for `native_amount`. Up to the maximum, no other amount has the same. */
export function toNativeAmount({ hundredths }: Money): number {
  return Number(formatHundredths(hundredths));
}

/** The quarks of an amount in the native unit. */
export function toQuarks({ hundredths }: Money): bigint {
  return (hundredths * quarksPerUnit) / 100n;
}

/** Like `parseMoney`, without the limits. @throws {IntentError} `invalid_amount` */
export function parseHundredths(amount: string | number): bigint {
  const text = typeof amount === 'number' ? String(amount) : amount;
  const match = typeof text === 'string' ? decimalForm.exec(text) : null;
  if (!match) {
    throw new IntentError(
      'invalid_amount',
      'Expected a decimal number without a sign and with at most two decimal places, such as 12.50.',
    );
  }
  const [, whole = '', decimals = ''] = match;
  return BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0'));
}

function formatHundredths(hundredths: bigint): string {
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
