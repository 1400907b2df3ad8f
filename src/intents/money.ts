import { IntentError } from '../errors.js';
import { currencyIndex, nativeCurrency } from './currency.js';

/** An amount of money in hundredths of its currency's unit. */
export interface Money {
  /** Lowercase three-letter code. */
  readonly currency: string;
  /** 1 to 2^56 - 1: what the seven bytes of the payload hold. */
  readonly hundredths: bigint;
}

/** A quark is the smallest part of the native unit. */
const quarksPerHundredth = 1_000n;
const maxQuarks = 2n ** 64n - 1n;
const maxHundredths = 2n ** 56n - 1n;

/** Interface section 8: 0.05 usd. Elsewhere the smallest amount the payload holds. */
const minHundredths = (currency: string): bigint => (currency === 'usd' ? 5n : 1n);

// Without sign, exponent or leading zeros. A number is formatted first, so neither 1e21 nor 0.1 + 0.2 passes.
const decimalForm = /^(0|[1-9]\d{0,17})(?:\.(\d{1,2}))?$/;

/**
 * Parses an amount and its currency without floating point. Nothing is ever rounded.
 *
 * @param amount a decimal string or a number, with at most two decimals
 * @throws {IntentError} `invalid_amount`, `amount_too_small`, `amount_too_large`, `unknown_currency`
 */
export function parseMoney(amount: string | number, currency: string): Money {
  currencyIndex(currency);
  const hundredths = parseHundredths(amount);
  checkLimits({ currency, hundredths });
  return { currency, hundredths };
}

/** @throws {IntentError} `amount_too_small` or `amount_too_large` (interface section 8) */
export function checkLimits({ currency, hundredths }: Money): void {
  const minimum = minHundredths(currency);
  if (hundredths < minimum) {
    throw new IntentError('amount_too_small', `The minimum is ${formatHundredths(minimum)} ${currency}.`);
  }
  const fitsTheNativeUnit = currency !== nativeCurrency || hundredths * quarksPerHundredth <= maxQuarks;
  if (hundredths > maxHundredths || !fitsTheNativeUnit) {
    throw new IntentError('amount_too_large', 'The amount is more than an intent can hold.');
  }
}

/** The amount as a decimal string with two decimals, such as `12.50`. */
export function formatAmount({ hundredths }: Money): string {
  return formatHundredths(hundredths);
}

/** The amount as the double in `native_amount`: the one nearest to the decimal. */
export function toNativeAmount({ hundredths }: Money): number {
  return Number(formatHundredths(hundredths));
}

/** The amount of native units in quarks. */
export function toQuarks({ hundredths }: Money): bigint {
  return hundredths * quarksPerHundredth;
}

/** The native units in an amount of quarks. Less than a hundredth is left out. */
export function moneyOfQuarks(quarks: bigint): Money {
  return { currency: nativeCurrency, hundredths: quarks / quarksPerHundredth };
}

function parseHundredths(amount: string | number): bigint {
  const text = typeof amount === 'number' ? String(amount) : amount;
  const match = typeof text === 'string' ? decimalForm.exec(text) : null;
  if (!match) {
    throw new IntentError('invalid_amount', 'Expected a decimal number with at most two decimals, such as 12.50.');
  }
  const [, whole = '', decimals = ''] = match;
  return BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0'));
}

function formatHundredths(hundredths: bigint): string {
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
