import bs58 from 'bs58';
import { IntentError } from '../../src/errors.js';
import { createKeyRing } from '../../src/keys/key-ring.js';
import { parseSecrets } from '../../src/keys/parse-secret.js';
import { createSigner } from '../../src/keys/verifier-key.js';
import { nacl } from './unsandboxed-nacl.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const seed = Uint8Array.from({ length: 32 }, (_, i) => 0xf0 - 7 * i);
const otherSeed = Uint8Array.from({ length: 32 }, (_, i) => (i < 2 ? 0 : 3 * i));
const wholeKeys = new Map<Uint8Array, Uint8Array>(
  [seed, otherSeed].map((each) => [each, nacl.sign.keyPair.fromSeed(each).secretKey]),
);
const whole = (of: Uint8Array): Uint8Array => wholeKeys.get(of) as Uint8Array;

/** Every accepted form of a seed. */
const forms = (of: Uint8Array): [string, string][] => [
  ['Base58 of 32 bytes', bs58.encode(of)],
  ['Base58 of 64 bytes', bs58.encode(whole(of))],
  ['hex of 32 bytes', hex(of)],
  ['hex of 64 bytes', hex(whole(of))],
  ['upper-case hex of 32 bytes', hex(of).toUpperCase()],
  ['upper-case hex of 64 bytes', hex(whole(of)).toUpperCase()],
  ['a JSON array of 64 numbers', JSON.stringify([...whole(of)])],
  ['a JSON array over several lines', JSON.stringify([...whole(of)], null, 2)],
];

function refusal(text: string): IntentError {
  try {
    parseSecrets(text);
  } catch (error) {
    if (error instanceof IntentError) return error;
    throw error;
  }
  throw new Error('The text was accepted.');
}

/** Fails if the error shows eight consecutive characters of the input. */
function expectNothingShown(error: IntentError, text: string): void {
  const shown = `${error.message}\n${error.stack}\n${error.title}\n${String(error.cause)}\n${JSON.stringify(error)}`;
  const stackFree = shown.replaceAll(/^\s+at .*$/gm, '').toLowerCase();
  for (let at = 0; at + 8 <= text.length; at++) {
    const part = text.slice(at, at + 8).toLowerCase();
    if (stackFree.includes(part)) throw new Error(`The error shows the characters from ${at} on.`);
  }
}

describe('a verifier secret (interface 5.3)', () => {
  test.each([seed, otherSeed].flatMap((of) => forms(of).map(([name, text]) => [name, text, of] as const)))(
    'is accepted as %s',
    (_, text, of) => {
      expect(parseSecrets(text).map(hex)).toEqual([hex(of)]);
      expect(createSigner(text).publicKey).toBe(bs58.encode(whole(of).subarray(32)));
    },
  );

  test.each([
    ['commas', ','],
    ['lines', '\n'],
    ['CRLF lines', '\r\n'],
    ['a comma at the end of each line', ' ,\n\n'],
  ])('is accepted in a list of all forms separated by %s', (_, separator) => {
    const texts = [...forms(seed), ...forms(otherSeed)].map(([, text]) => text);
    const list = texts.join(separator);
    const seeds = [...forms(seed).map(() => hex(seed)), ...forms(otherSeed).map(() => hex(otherSeed))];
    expect(parseSecrets(list).map(hex)).toEqual(seeds);
    expect(parseSecrets(`${separator}${list}${separator}`).map(hex)).toEqual(seeds);
  });

  test('is accepted from a file with a final line break or a byte order mark', () => {
    expect(parseSecrets(`${bs58.encode(seed)}\n`).map(hex)).toEqual([hex(seed)]);
    expect(parseSecrets(`\ufeff${bs58.encode(seed)}`).map(hex)).toEqual([hex(seed)]);
  });

  test.each(['', ' ', ',', ' ,\n, '])('in %j is missing: neither a signer nor a key ring is created', (text) => {
    expect(parseSecrets(text)).toEqual([]);
    expect(() => createSigner(text)).toThrow(expect.objectContaining({ code: 'invalid_key' }));
    expect(() => createKeyRing(text)).toThrow(expect.objectContaining({ code: 'invalid_key' }));
  });

  test('for a signer must be exactly one', () => {
    expect(() => createSigner(`${hex(seed)},${hex(otherSeed)}`)).toThrow(
      expect.objectContaining({ code: 'invalid_key' }),
    );
  });
});

describe('a verifier secret is rejected, and not shown by the error, when it is', () => {
  const numbers = [...whole(seed)];
  const array = (change: (numbers: unknown[]) => unknown[]): string => JSON.stringify(change([...numbers]));
  const replaced = (value: string): string => `[${[...numbers.slice(0, 9), value, ...numbers.slice(10)].join(',')}]`;
  const same = (change: (array: string) => string): string => {
    const array = JSON.stringify([...whole(otherSeed)]);
    expect(change(array)).not.toBe(array);
    return change(array);
  };
  const mismatched = Buffer.concat([seed, whole(otherSeed).subarray(32)]);

  test.each([
    ...[31, 33, 63, 65].flatMap((length): [string, string][] => [
      [`hex of ${length} bytes`, hex(Buffer.alloc(length, seed))],
      [`Base58 of ${length} bytes`, bs58.encode(Buffer.alloc(length, seed))],
    ]),
    ['hex with 0x in front', `0x${hex(seed)}`],
    ['hex with a letter that is not hex', `g${hex(seed).slice(1)}`],
    ['an array of 63', array((all) => all.slice(0, 63))],
    ['an array of 65', array((all) => [...all, 1])],
    ['an empty array', '[]'],
    ['an array of 64 gaps', `[${','.repeat(63)}]`],
    ['a number left out', replaced('')],
    ['null', replaced('null')],
    // The correct values, but not JSON.
    ['a gap where a zero belongs', same((numbers) => numbers.replace('[0,', '[,'))],
    ['hex numbers', same((numbers) => numbers.replaceAll(/\d+/g, (n) => `0x${Number(n).toString(16)}`))],
    ['a number with a zero in front', same((numbers) => numbers.replace(',6,', ',06,'))],
    // Numbers that would be truncated to the correct bytes.
    ['a byte as a negative number', same((numbers) => numbers.replace(',6,', ',-250,'))],
    ['a byte as a number over 255', same((numbers) => numbers.replace(',6,', ',262,'))],
    ['a byte with a fraction', same((numbers) => numbers.replace(',6,', ',6.5,'))],
    ['a comma behind the last number', same((numbers) => numbers.replace(']', ',]'))],
    ['an array that is not closed', array((all) => all).slice(0, -1)],
    ['a mismatched second half in hex', hex(mismatched)],
    ['a mismatched second half in Base58', bs58.encode(mismatched)],
    ['a mismatched second half in an array', JSON.stringify([...mismatched])],
    ['quotes around it', `"${bs58.encode(seed)}"`],
    ['Base64', Buffer.from(seed).toString('base64')],
    ['a PEM file', `-----BEGIN PRIVATE KEY-----\n${Buffer.from(seed).toString('base64')}\n-----END PRIVATE KEY-----`],
    ['similar Cyrillic letters', bs58.encode(seed).replace(/[aeopc]/, 'а')],
  ])('%s', (_, text) => {
    const error = refusal(text);
    expect(error.code).toBe('invalid_key');
    expect(error.cause).toBeUndefined();
    expectNothingShown(error, text);
  });

  test('the error of an invalid secret names its position in the list', () => {
    const list = `${hex(seed)}, ${bs58.encode(otherSeed)}\n${hex(seed).slice(2)}`;
    const error = refusal(list);
    expect(error.message).toMatch(/^Entry 3 of 3 is not a secret key/);
    expectNothingShown(error, list);
    const pasted = `INTENT_VERIFIER_SECRET=${bs58.encode(seed)}`;
    expect(refusal(pasted).message).toMatch(/^Entry 1 of 1 begins with the name of a variable: remove the name/);
    expectNothingShown(refusal(pasted), pasted);
    expect(refusal(`${hex(mismatched)} ${hex(seed)}`).message).toMatch(/^Entry 1 of 2: the public key/);
  });
});
