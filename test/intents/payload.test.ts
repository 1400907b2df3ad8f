import bs58 from 'bs58';
import { decodePayload, encodePayload, formatClientSecret, parseClientSecret } from '../../src/intents/payload.js';
import { seededRandom } from '../wire/seeded-random.js';
import { thrownCode } from '../wire/thrown-code.js';

const nonce = Uint8Array.from({ length: 11 }, (_, i) => 0xa0 + i);
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

describe('the payload has the known bytes (protocol 2)', () => {
  test.each<[string, string, bigint, string]>([
    ['0.05 usd', 'usd', 5n, '02 8c 05000000000000'],
    ['0.01 eur', 'eur', 1n, '02 2b 01000000000000'],
    ['2.56 kin', 'kin', 256n, '02 00 00010000000000'],
    ['the largest amount', 'aed', 2n ** 56n - 1n, '02 01 ffffffffffffff'],
  ])('for a payment of %s', (_, currency, hundredths, head) => {
    const payload = { kind: 'payment', money: { currency, hundredths }, nonce } as const;
    const expected = Uint8Array.of(...bytes(head.slice(0, 5)), ...bytes(head.slice(6)).subarray(0, 7), ...nonce);
    expect(hex(encodePayload(payload))).toBe(hex(expected));
    expect(decodePayload(expected)).toEqual(payload);
  });

  test('for a login', () => {
    const expected = bytes('03 00 00000000000000 a0a1a2a3a4a5a6a7a8a9aa');
    expect(hex(encodePayload({ kind: 'login', nonce }))).toBe(hex(expected));
    expect(decodePayload(expected)).toEqual({ kind: 'login', nonce });
  });

  test('and is decoded without change for random intents', () => {
    const random = seededRandom(20);
    for (let i = 0; i < 2_000; i++) {
      const payload = Uint8Array.of(2, random.below(154), ...random.bytes(18));
      expect(hex(encodePayload(decodePayload(payload)))).toBe(hex(payload));
    }
  });

  test.each([0, 1, 4, 5, 0x82, 255])('and the kind %d is rejected', (kind) => {
    expect(thrownCode(() => decodePayload(Uint8Array.of(kind, ...new Uint8Array(19))))).toBe('invalid_client_secret');
  });

  test.each([154, 200, 255])('and the currency index %d is rejected', (index) => {
    expect(thrownCode(() => decodePayload(Uint8Array.of(2, index, 5, ...new Uint8Array(17))))).toBe('unknown_currency');
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'and a login with byte %d set is rejected: it has neither currency nor amount',
    (at) => {
      const payload = encodePayload({ kind: 'login', nonce });
      payload[at] = 1;
      expect(thrownCode(() => decodePayload(payload))).toBe('invalid_client_secret');
    },
  );

  test.each([0, 19, 21, 32, 40])('and %d bytes are rejected', (length) => {
    expect(thrownCode(() => decodePayload(new Uint8Array(length).fill(3)))).toBe('invalid_client_secret');
  });
});

describe('the client secret (interface 2.8, protocol 2)', () => {
  const payload = encodePayload({ kind: 'payment', money: { currency: 'usd', hundredths: 5n }, nonce });
  const secret = formatClientSecret(payload);

  test('is the Base58 of the 20 bytes of the payload', () => {
    expect(secret).toBe(bs58.encode(payload));
    expect(hex(parseClientSecret(secret))).toBe(hex(payload));
  });

  test.each([
    ['empty', ''],
    ['19 bytes', bs58.encode(payload.subarray(1))],
    ['21 bytes', bs58.encode(Uint8Array.of(...payload, 1))],
    ['a one in front', `1${secret}`],
    ['hex', hex(payload)],
    ['an intent id', bs58.encode(new Uint8Array(32).fill(9))],
    ['very long text', '1'.repeat(1_000_000)],
  ])('is rejected if it is %s', (_, text) => {
    expect(thrownCode(() => parseClientSecret(text))).toBe('invalid_client_secret');
  });

  test('is not shown by the error that rejects it', () => {
    try {
      parseClientSecret(`${secret}1`);
      throw new Error('It was accepted.');
    } catch (error) {
      const shown = `${(error as Error).message}${JSON.stringify(error)}`;
      for (let at = 0; at + 8 <= secret.length; at++) expect(shown).not.toContain(secret.slice(at, at + 8));
    }
  });
});
