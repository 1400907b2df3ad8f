import { readFileSync } from 'node:fs';
import { currencyAt, currencyIndex } from '../../src/intents/currency.js';
import { currencyCodes, nativeCurrency } from '../../src/intents/currency-codes.js';
import { decodePayload, encodePayload } from '../../src/intents/payload.js';
import { thrownCode } from '../wire/thrown-code.js';

describe('currencies (interface 2.4, protocol 2)', () => {
  test('are the list of docs/protocol.md, in its order', () => {
    const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
    const list = /^kin aed[a-z\s]*/m.exec(page)?.[0].trim().split(/\s+/);
    expect(currencyCodes).toEqual(list);
  });

  test('have the indexes that the protocol names, and some counted by hand', () => {
    expect(['kin', 'aed', 'cdf', 'chf', 'eur', 'hnl', 'mdl', 'ron', 'usd', 'zmw'].map(currencyIndex)).toEqual([
      0, 1, 27, 28, 43, 55, 83, 111, 140, 153,
    ]);
    expect([currencyIndex('usd'), currencyIndex('eur')]).toEqual([0x8c, 0x2b]);
    expect(nativeCurrency).toBe('kin');
  });

  test.each(currencyCodes.map((code, index) => [code, index] as const))(
    'include %s, which is %d in the payload',
    (code, index) => {
      const bytes = encodePayload({
        kind: 'payment',
        money: { currency: code, hundredths: 7n },
        nonce: new Uint8Array(11),
      });
      expect(bytes[1]).toBe(index);
      expect(currencyIndex(code)).toBe(index);
      expect(currencyAt(index)).toBe(code);
      expect(decodePayload(bytes)).toMatchObject({ money: { currency: code } });
    },
  );

  const others = '|USD|Usd| usd|usd |usd\n|us|usdc|xyz|btc|$|840|uѕd|__proto__|constructor|toString|kin aed'.split('|');

  test.each([...others, undefined, null, 140, {}].map((each) => [each]))('do not include %p', (code) => {
    expect(thrownCode(() => currencyIndex(code as string))).toBe('unknown_currency');
  });

  test.each([154, 255, 256, -1, 1.5, Number.NaN])('do not include an index %p', (index) => {
    expect(thrownCode(() => currencyAt(index))).toBe('unknown_currency');
  });
});
