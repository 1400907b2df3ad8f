import { type ExactTerms, parseExact } from '../../src/intents/exact-terms.js';
import { parseMoney } from '../../src/intents/money.js';
import { thrownCode } from '../wire/thrown-code.js';

const usd = (amount: string) => parseMoney(amount, 'usd');
const kin = (amount: string) => parseMoney(amount, 'kin');
const codeOf = (terms: unknown, money = usd('4.50')): string =>
  thrownCode(() => parseExact(terms as ExactTerms, money));

describe('parseExact (interface 2.4, protocol 2)', () => {
  test('leaves the rate open without terms, except in kin', () => {
    expect(parseExact(undefined, usd('4.50'))).toBeUndefined();
    expect(parseExact(undefined, kin('4.50'))).toEqual({ exchangeRate: 1, quarks: 450_000n });
  });

  // 18 kin at 0.25 usd are 4.50 usd. Half a hundredth, 0.005 usd, is 2000 quarks.
  test.each<[string, ExactTerms]>([
    ['quarks as a bigint', { exchangeRate: 0.25, quarks: 1_800_000n }],
    ['quarks as text', { exchangeRate: 0.25, quarks: '1800000' }],
    ['half a hundredth less', { exchangeRate: 0.25, quarks: '1798000' }],
    ['half a hundredth more', { exchangeRate: 0.25, quarks: '1802000' }],
  ])('accepts %s', (_name, terms) => {
    expect(parseExact(terms, usd('4.50'))).toEqual({ exchangeRate: 0.25, quarks: BigInt(terms.quarks) });
  });

  test.each<[string, unknown]>([
    ['more than half a hundredth less', { exchangeRate: 0.25, quarks: '1797999' }],
    ['more than half a hundredth more', { exchangeRate: 0.25, quarks: '1802001' }],
    ['no quarks', { exchangeRate: 0.25 }],
    ['quarks as a number', { exchangeRate: 0.25, quarks: 1_800_000 }],
    ['quarks with a fraction', { exchangeRate: 0.25, quarks: '1800000.0' }],
    ['a leading zero', { exchangeRate: 0.25, quarks: '01800000' }],
    ['zero quarks', { exchangeRate: 0.25, quarks: 0n }],
    ['negative quarks', { exchangeRate: -0.25, quarks: -1_800_000n }],
    ['quarks of 2^63', { exchangeRate: 4.8789e-14, quarks: 2n ** 63n }],
    ['a rate of zero', { exchangeRate: 0, quarks: '1800000' }],
    ['a negative rate', { exchangeRate: -0.25, quarks: '1800000' }],
    ['a rate that is not finite', { exchangeRate: Number.POSITIVE_INFINITY, quarks: '1800000' }],
    ['a rate that is not a number', { exchangeRate: Number.NaN, quarks: '1800000' }],
    ['a rate as text', { exchangeRate: '0.25', quarks: '1800000' }],
  ])('rejects %s', (_name, terms) => {
    expect(codeOf(terms)).toBe('invalid_amount');
  });

  test('rejects an unknown member', () => {
    expect(codeOf({ exchangeRate: 0.25, quarks: '1800000', rate: 1 })).toBe('invalid_request');
  });

  test('does not round: at the largest amount one quark decides', () => {
    const money = usd('70368744177663.99');
    // The quarks of the amount at a rate of 1, and 500 more. As doubles, 500 and 501 more are the same number.
    expect(Number(7_036_874_417_766_399_500n)).toBe(Number(7_036_874_417_766_399_501n));
    expect(parseExact({ exchangeRate: 1, quarks: 7_036_874_417_766_399_500n }, money)).toBeDefined();
    expect(codeOf({ exchangeRate: 1, quarks: 7_036_874_417_766_399_501n }, money)).toBe('invalid_amount');
  });

  test('accepts quarks up to 2^63 - 1, and the smallest and largest rates', () => {
    expect(parseExact({ exchangeRate: 2 ** -40, quarks: 2n ** 63n - 1n }, usd('83.89'))).toBeDefined();
    expect(codeOf({ exchangeRate: Number.MIN_VALUE, quarks: 1n })).toBe('invalid_amount');
    expect(codeOf({ exchangeRate: Number.MAX_VALUE, quarks: 1n })).toBe('invalid_amount');
  });

  test.each<[string, ExactTerms, boolean]>([
    ['the rate 1 and the quarks of the amount', { exchangeRate: 1, quarks: 450_000n }, true],
    ['another rate', { exchangeRate: 2, quarks: 225_000n }, false],
    ['a quark more', { exchangeRate: 1, quarks: 450_001n }, false],
  ])('in kin, with %s', (_name, terms, isAccepted) => {
    expect(codeOf(terms, kin('4.50'))).toBe(isAccepted ? 'nothing was thrown' : 'invalid_amount');
  });
});
