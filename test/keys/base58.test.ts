import { formatBase58, normalizeAccount, parseAccount, parseBase58, parseIntentId } from '../../src/keys/base58.js';
import { parseVerifyingKey } from '../../src/keys/verifying-key.js';
import { runToEnd } from '../support/run-to-end.js';
import { seededRandom } from '../wire/seeded-random.js';
import { thrownCode } from '../wire/thrown-code.js';

const account = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';

// Base58 by its definition: a number in base 58, and a '1' for each leading zero byte. Independent of bs58.
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
function base58(bytes: Uint8Array): string {
  let number = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = alphabet.charAt(Number(number % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text;
}

describe('canonical Base58 (interface 2.2, 2.7, 8)', () => {
  test('equals the definition in both directions, for every length in use', () => {
    const random = seededRandom(58);
    for (const length of [20, 32, 64]) {
      const extremes = [new Uint8Array(length), new Uint8Array(length).fill(0xff)];
      const withZeros = Array.from({ length: 50 }, () => random.bytes(length).fill(0, 0, random.below(length)));
      for (const bytes of [...extremes, ...withZeros]) {
        const text = base58(bytes);
        expect(formatBase58(bytes)).toBe(text);
        expect(Buffer.from(parseBase58(text, length, 'invalid_key'))).toEqual(Buffer.from(bytes));
      }
    }
  });

  test.each([
    ['empty', ''],
    ['31 bytes', base58(new Uint8Array(31).fill(200))],
    ['33 bytes', base58(new Uint8Array(33).fill(200))],
    ['the digit 0', account.replace('8', '0')],
    ['the letter O', account.replace('E', 'O')],
    ['hex', '00'.repeat(32)],
    ['Base64 without padding', Buffer.alloc(32, 0xfb).toString('base64').slice(0, -1)],
    ['a Cyrillic a', account.replace('a', 'а')],
    ['a full-width digit', account.replace('8', '８')],
    ['a zero-width space', `${account.slice(0, 9)}\u200b${account.slice(9)}`],
    ['a letter whose low byte is one of the alphabet', account.replace('E', 'Ņ')],
    ['a one in front that stands for no byte', `1${account}`],
    ['a space behind', `${account} `],
    ['a line break behind', `${account}\n`],
  ])('rejects %s', (_, text) => {
    expect(thrownCode(() => parseAccount(text))).toBe('invalid_account');
    expect(thrownCode(() => parseIntentId(text))).toBe('invalid_id');
    expect(thrownCode(() => parseBase58(text, 32, 'invalid_key'))).toBe('invalid_key');
  });

  test('rejects a lost or an added leading one, for bytes that start with zeros', () => {
    const text = base58(new Uint8Array(32).fill(7, 3));
    expect(text).toMatch(/^111[^1]/);
    expect(parseAccount(text)).toHaveLength(32);
    expect(thrownCode(() => parseAccount(text.slice(1)))).toBe('invalid_account');
    expect(thrownCode(() => parseAccount(`1${text}`))).toBe('invalid_account');
  });

  test.each([undefined, null, 5, true, {}, [], [account], Buffer.from(account), Symbol('x'), new String(account)])(
    'rejects %p, which is not a string',
    (value) => {
      expect(thrownCode(() => parseAccount(value as unknown as string))).toBe('invalid_account');
    },
  );

  test('rejects very long text at linear cost, before the quadratic decoding', () => {
    runToEnd(() => {
      for (const text of ['z'.repeat(5_000_000), '1'.repeat(5_000_000)]) {
        expect(thrownCode(() => parseAccount(text))).toBe('invalid_account');
      }
    });
  });
});

describe('an account in Base64 (interface 2.2, protocol 1)', () => {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const bytes = parseBase58(account, 32, 'invalid_account');

  test('is the account whose Base58 form encodes the same bytes', () => {
    const random = seededRandom(64);
    const others = Array.from({ length: 50 }, () => random.bytes(32));
    for (const each of [bytes, new Uint8Array(32), new Uint8Array(32).fill(0xff), ...others]) {
      expect(Buffer.from(parseAccount(base64(each)))).toEqual(Buffer.from(each));
      expect(normalizeAccount(base64(each))).toBe(base58(each));
      expect(normalizeAccount(base58(each))).toBe(base58(each));
    }
  });

  test('is neither an id nor a key', () => {
    expect(thrownCode(() => parseIntentId(base64(bytes)))).toBe('invalid_id');
    expect(thrownCode(() => parseVerifyingKey(base64(bytes)))).toBe('invalid_key');
    expect(thrownCode(() => parseBase58(base64(bytes), 32, 'invalid_key'))).toBe('invalid_key');
  });

  const text = base64(new Uint8Array(32).fill(0xfb));

  test.each([
    ['31 bytes', base64(new Uint8Array(31))],
    ['33 bytes', base64(new Uint8Array(33).fill(0xfb))],
    ['the URL-safe alphabet', text.replaceAll('+', '-').replaceAll('/', '_')],
    ['bits behind the last byte', text.replace(/.=$/, 't=')],
    ['two padding characters', `${text.slice(0, -2)}==`],
    ['a second padding character', `${text}=`],
    ['padding in the middle', `${text.slice(0, 20)}=${text.slice(21)}`],
    ['a space in the middle', `${text.slice(0, 20)} ${text.slice(20)}`],
    ['a line break behind', `${text}\n`],
    ['a full-width letter', text.replace('+', 'Ａ')],
  ])('is rejected with %s', (_, given) => {
    expect(given).not.toBe(text);
    expect(thrownCode(() => parseAccount(given))).toBe('invalid_account');
  });
});
