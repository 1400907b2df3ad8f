import { IntentError } from '../errors.js';
import { requireKnown } from '../reject-unknown.js';
import { nativeCurrency } from './currency-codes.js';
import { formatAmount, type Money, quarksPerUnit, toQuarks } from './money.js';

/** A payment at a fixed rate: `exact` of interface section 2.4. */
export interface ExactTerms {
  /** What one unit of `kin` costs in the currency of the payment, greater than zero. */
  readonly exchangeRate: number;
  /**
   * What the payer pays, in hundred-thousandths of a `kin`: a whole number from 1 to 2^63 - 1, as a bigint or a decimal string.
   * `quarks / 100000 * exchangeRate` must be the amount, within half a hundredth.
   */
  readonly quarks: bigint | string;
}

/** The rate of a payment, as the ledger records it. */
export interface RecordedExact extends ExactTerms {
  /** In hundred-thousandths of a `kin`. */
  readonly quarks: string;
}

/** A rate that matches its amount. */
export interface FixedRate {
  readonly exchangeRate: number;
  readonly quarks: bigint;
}

const maxQuarks = 2n ** 63n - 1n;
const wholeNumber = /^[1-9]\d{0,18}$/;

/**
 * Checks the rate of a payment (protocol section 2), without rounding.
 * @returns undefined if the rate is open: without terms, in every currency but `kin`
 * @throws {IntentError} `invalid_amount`
 */
export function parseExact(terms: ExactTerms | undefined, money: Money): FixedRate | undefined {
  if (terms === undefined) {
    return money.currency === nativeCurrency ? { exchangeRate: 1, quarks: toQuarks(money) } : undefined;
  }
  requireKnown('`exact`', terms, ['exchangeRate', 'quarks']);
  const { exchangeRate } = terms;
  if (typeof exchangeRate !== 'number' || !Number.isFinite(exchangeRate) || exchangeRate <= 0) {
    throw invalid('`exact.exchangeRate` must be a number greater than zero.');
  }
  const quarks = parseQuarks(terms.quarks);
  if (isSameValue(quarks, exchangeRate, money)) return { exchangeRate, quarks };
  const value = (Number(quarks) / Number(quarksPerUnit)) * exchangeRate;
  const limit =
    money.currency === nativeCurrency ? 'In kin the rate is 1.' : 'At most half a hundredth may be between them.';
  throw invalid(
    `\`exact\` does not match the amount: quarks / ${quarksPerUnit} * exchangeRate is ${value}, the amount is ` +
      `${formatAmount(money)} ${money.currency}. ${limit}`,
  );
}

function parseQuarks(quarks: unknown): bigint {
  const text = typeof quarks === 'bigint' ? String(quarks) : quarks;
  if (typeof text === 'string' && wholeNumber.test(text) && BigInt(text) <= maxQuarks) return BigInt(text);
  throw invalid(`\`exact.quarks\` must be a whole number from 1 to ${maxQuarks}, as a bigint or a decimal string.`);
}

function isSameValue(quarks: bigint, exchangeRate: number, money: Money): boolean {
  if (money.currency === nativeCurrency) return exchangeRate === 1 && quarks === toQuarks(money);
  const [numerator, denominator] = toFraction(exchangeRate);
  // In quarks at the rate 1, half a hundredth is 500.
  const difference = quarks * numerator - toQuarks(money) * denominator;
  return (difference < 0n ? -difference : difference) <= 500n * denominator;
}

/** The exact value of a finite double: every double is a whole number divided by a power of two. */
function toFraction(value: number): readonly [numerator: bigint, denominator: bigint] {
  let denominator = 1n;
  let numerator = value;
  for (; !Number.isInteger(numerator); numerator *= 2) denominator *= 2n;
  return [BigInt(numerator), denominator];
}

const invalid = (message: string): IntentError => new IntentError('invalid_amount', message);
