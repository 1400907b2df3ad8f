import { readFileSync } from 'node:fs';
import { currencyAt, currencyCodes, currencyIndex, nativeCurrency } from '../../src/intents/currency.js';
import { decodePayload, encodePayload } from '../../src/intents/payload.js';
import { thrownCode } from '../wire/thrown-code.js';

describe('currencies (interface 2.4, protocol 2)', () => {
  test('are those of the list in docs/protocol.md, in its order', () => {
    const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
    const list = /^kin aed[a-z\s]*/m.exec(page)?.[0].trim().split(/\s+/);
    expect(currencyCodes).toEqual(list);
  });

  test('places of the list that the protocol names, and some counted by hand', () => {
    expect(['kin', 'aed', 'cdf', 'chf', 'eur', 'hnl', 'mdl', 'ron', 'usd', 'zmw'].map(currencyIndex)).toEqual([
      0, 1, 27, 28, 43, 55, 83, 111, 140, 153,
    ]);
    expect([currencyIndex('usd'), currencyIndex('eur')]).toEqual([0x8c, 0x2b]);
    expect(nativeCurrency).toBe('kin');
  });

  test('each is three lower-case letters, is there once, and fits a byte', () => {
    expect(currencyCodes).toHaveLength(154);
    for (const code of currencyCodes) expect(code).toMatch(/^[a-z]{3}$/);
    expect(new Set(currencyCodes).size).toBe(currencyCodes.length);
    expect(currencyCodes.length).toBeLessThanOrEqual(256);
    expect([...currencyCodes.slice(1)].sort()).toEqual(currencyCodes.slice(1));
  });

  test.each(currencyCodes.map((code, index) => [code, index] as const))(
    '%s is %d in the payload, and back',
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

  test.each([
    '',
    'USD',
    'Usd',
    ' usd',
    'usd ',
    'usd\n',
    'us',
    'usdc',
    'xyz',
    'btc',
    '$',
    '840',
    'uѕd',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'kin aed',
    undefined,
    null,
    140,
    {},
    ['usd'],
  ])('refuses %p', (code) => {
    expect(thrownCode(() => currencyIndex(code as string))).toBe('unknown_currency');
  });

  test.each([154, 255, 256, -1, 1.5, Number.NaN])('there is no currency at %p', (index) => {
    expect(thrownCode(() => currencyAt(index))).toBe('unknown_currency');
  });

  test('the list cannot be changed', () => {
    expect(() => (currencyCodes as string[]).push('new')).toThrow(TypeError);
    expect(() => (currencyCodes as string[]).sort()).toThrow(TypeError);
  });
});
