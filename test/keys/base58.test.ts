import { formatBase58, parseAccount, parseBase58, parseIntentId } from '../../src/keys/base58.js';
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
    ['Base64', Buffer.alloc(32, 9).toString('base64')],
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
