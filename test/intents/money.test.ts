import { checkLimits, formatAmount, parseMoney, toNativeAmount, toQuarks } from '../../src/intents/money.js';
import { runToEnd } from '../support/run-to-end.js';
import { seededRandom } from '../wire/seeded-random.js';
import { thrownCode } from '../wire/thrown-code.js';

const hundredthsOf = (amount: unknown, currency = 'usd'): bigint => parseMoney(amount as string, currency).hundredths;
/** The last hundredth below 2^46 units. From there on, doubles are further apart than hundredths. */
const maxHundredths = 2n ** 46n * 100n - 1n;

describe('parseMoney (interface 2.8, protocol 2)', () => {
  test.each<[string | number, bigint]>([
    ['12.50', 1250n],
    ['12.5', 1250n],
    ['12', 1200n],
    ['0.05', 5n],
    ['0.99', 99n],
    ['1.00', 100n],
    ['70368744177663.98', maxHundredths - 1n],
    ['70368744177663.99', maxHundredths],
    [12.5, 1250n],
    [0.29, 29n],
    [1.15, 115n],
    [4.35, 435n],
    [19.99, 1999n],
    [70368744177663.99, 7_036_874_417_766_399n],
  ])('reads %p as %s hundredths', (amount, hundredths) => {
    expect(hundredthsOf(amount)).toBe(hundredths);
  });
});

describe('parseMoney does not round (protocol 2)', () => {
  const texts =
    '| |.|1.|.5|01|00|00.50|+1|-1|-0|-0.05| 1|1 |1\n|1,00|1,000.00|1.000|1.005|1.0.0|1..0|1_000|1e2|1E2|0x10|0b1|10n|١|１|1٫5|½' +
    '|$1|1 usd|NaN|Infinity|null|undefined|1\u200b|\ufeff1|1\0|1.5\u00a0|1000000000000000000';

  test.each([...texts.split('|'), '9'.repeat(100)])('and rejects the text %j with invalid_amount', (amount) => {
    expect(thrownCode(() => parseMoney(amount, 'usd'))).toBe('invalid_amount');
  });

  const inexact = [0.1 + 0.2, 0.1 + 0.7, 1.005, 0.051, 1e21, 1e-7, 5e-324, 1.1 * 3, Number.MAX_VALUE, 1e18];
  const lookalike = { toString: () => '5', valueOf: () => 5 };
  const others: unknown[] = [undefined, null, true, 5n, ['5'], {}, new String('5'), lookalike];
  const extremes = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0.05];

  test.each([...inexact, ...extremes, ...others].map((each) => [each]))(
    'and rejects %p with invalid_amount',
    (amount) => {
      expect(thrownCode(() => parseMoney(amount as string, 'usd'))).toBe('invalid_amount');
    },
  );

  test('and rejects very long text with invalid_amount, at linear cost', () => {
    runToEnd(() => {
      for (const text of ['9'.repeat(5_000_000), `0.${'0'.repeat(5_000_000)}`, '0'.repeat(5_000_000)]) {
        expect(thrownCode(() => parseMoney(text, 'usd'))).toBe('invalid_amount');
      }
    });
  });

  test.each(['USD', '', 'xyz', '__proto__'])('and rejects the currency %j with unknown_currency', (currency) => {
    expect(thrownCode(() => parseMoney('1', currency))).toBe('unknown_currency');
  });
});

describe('the limits of amounts (interface 8, protocol 2)', () => {
  test.each<[string | number, string]>([
    ['0.05', 'usd'],
    ['0.01', 'eur'],
    [0.01, 'eur'],
    ['70368744177663.99', 'eur'],
    ['70368744177663.99', 'kin'],
  ])('accept %p %s', (amount, currency) => {
    expect(parseMoney(amount, currency).currency).toBe(currency);
  });

  test.each<[string | number, string]>([
    ['0.04', 'usd'],
    [0.04, 'usd'],
    ['0.01', 'usd'],
    ['0', 'usd'],
    ['0.00', 'usd'],
    ['0', 'eur'],
    [0, 'kin'],
  ])('reject %p %s with amount_too_small', (amount, currency) => {
    expect(thrownCode(() => parseMoney(amount, currency))).toBe('amount_too_small');
  });

  test.each<[string | number, string]>([
    ['70368744177664', 'usd'],
    ['70368744177664.01', 'eur'],
    [70368744177664, 'eur'],
    ['70368744177664', 'kin'],
    ['720575940379279.35', 'usd'],
  ])('reject %p %s with amount_too_large', (amount, currency) => {
    expect(thrownCode(() => parseMoney(amount, currency))).toBe('amount_too_large');
  });

  test('apply also to a Money object that the caller built', () => {
    expect(thrownCode(() => checkLimits({ currency: 'eur', hundredths: 0n }))).toBe('amount_too_small');
    expect(thrownCode(() => checkLimits({ currency: 'eur', hundredths: -5n }))).toBe('amount_too_small');
    expect(thrownCode(() => checkLimits({ currency: 'usd', hundredths: 4n }))).toBe('amount_too_small');
    expect(thrownCode(() => checkLimits({ currency: 'usd', hundredths: maxHundredths + 1n }))).toBe('amount_too_large');
    expect(() => checkLimits({ currency: 'usd', hundredths: maxHundredths })).not.toThrow();
  });
});

describe('the conversion of amounts', () => {
  const random = seededRandom(100);
  const randomHundredths = Array.from({ length: 20_000 }, () => {
    const bits = BigInt(4 + random.below(50));
    const drawn = BigInt(`0x${Buffer.from(random.bytes(7)).toString('hex')}`) & ((1n << bits) - 1n);
    return drawn < 5n ? 5n : drawn % (maxHundredths + 1n);
  });

  test('formats and parses any hundredths without change', () => {
    const wrong = randomHundredths.filter((hundredths) => {
      const text = formatAmount({ currency: 'usd', hundredths });
      const expected = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
      return text !== expected || hundredthsOf(text) !== hundredths;
    });
    expect(wrong).toEqual([]);
  });

  test('reads every double back to its hundredths, up to the maximum', () => {
    const largest = Array.from({ length: 1_000 }, (_, index) => maxHundredths - BigInt(index));
    const isWrong = (hundredths: bigint): boolean =>
      hundredthsOf(toNativeAmount({ currency: 'usd', hundredths })) !== hundredths;
    expect([...largest, ...randomHundredths].find(isWrong)).toBeUndefined();
  });

  test('loses a hundredth to a double right above the maximum', () => {
    expect(toNativeAmount({ currency: 'usd', hundredths: maxHundredths + 2n }).toFixed(2)).toBe('70368744177664.02');
  });

  test('returns the amount times 100,000 as quarks', () => {
    expect(toQuarks(parseMoney('1', 'kin'))).toBe(100_000n);
    expect(toQuarks(parseMoney('0.01', 'kin'))).toBe(1_000n);
    expect(toQuarks(parseMoney('70368744177663.99', 'kin'))).toBe(7_036_874_417_766_399_000n);
  });
});
