import { readFileSync } from 'node:fs';
import bs58 from 'bs58';
import {
  decodeBase58,
  decodeClientSecret,
  deriveIntentId,
  encodeBase58,
  isPublicKey,
  nativePublicKey,
} from '../../../src/browser/flow/client-secret.js';
import { publicKeyOf } from '../../../src/browser/flow/portable-ed25519.js';

const known = JSON.parse(readFileSync(new URL('../../vectors/vectors.json', import.meta.url), 'utf8'));
const vectors = [
  ['payment', known.payment],
  ['login', known.login],
] as const;
const bytesOf = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(hex, 'hex'));

describe('deriveIntentId (protocol section 7)', () => {
  test.each(vectors)('derives the id of a %s', async (kind, { payload, id }) => {
    const decoded = decodeClientSecret(bs58.encode(bytesOf(payload)), kind);
    expect(await deriveIntentId(decoded, nativePublicKey)).toBe(id);
  });

  test('derives the same id with the portable implementation', async () => {
    const { payload, id } = known.payment;
    expect(await deriveIntentId(bytesOf(payload), publicKeyOf)).toBe(id);
  });

  test('derives the public key of RFC 8032 test 1 with the portable implementation', () => {
    const seed = bytesOf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
    const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    expect(Buffer.from(publicKeyOf(seed)).toString('hex')).toBe(publicKey);
  });

  test.each([[null], [''], ['1'.repeat(31)], ['1'.repeat(33)], ['2'.repeat(45)]])('isPublicKey refuses %j', (text) =>
    expect(isPublicKey(text)).toBe(false),
  );

  test('isPublicKey accepts 32 bytes, also zeros', () => {
    expect(isPublicKey('1'.repeat(32))).toBe(true);
    expect(isPublicKey(known.login.id)).toBe(true);
  });
});

describe('Base58', () => {
  test.each([[[]], [[0, 0, 1]], [[255]], [[1, 0, 0]], [[58]], [[255, 255, 255, 255]]])(
    'encodes and decodes %j like bs58',
    (bytes) => {
      const text = encodeBase58(Uint8Array.from(bytes));
      expect(text).toBe(bs58.encode(Uint8Array.from(bytes)));
      expect([...(decodeBase58(text, bytes.length) ?? [])]).toEqual(bytes);
    },
  );

  test('encodes the example of the IETF draft', () => {
    expect(encodeBase58(new TextEncoder().encode('Hello World!'))).toBe('2NEpo7TZRRrLZSi2U');
  });

  test.each(['0', 'O', 'I', 'l', ' 2', '2 ', '12', '5R', 'ÿ'])('refuses %j as one byte', (text) => {
    expect(decodeBase58(text, 1)).toBeUndefined();
  });
});

describe('decodeClientSecret', () => {
  const secretOf = (...first: number[]): string =>
    bs58.encode(Uint8Array.from({ length: 20 }, (_, at) => first[at] ?? 0));

  test.each(vectors)('accepts the secret of a %s for that kind only', (kind, { payload }) => {
    const secret = bs58.encode(bytesOf(payload));
    expect(decodeClientSecret(secret, kind)).toEqual(bytesOf(payload));
    expect(() => decodeClientSecret(secret, kind === 'login' ? 'payment' : 'login')).toThrow(TypeError);
  });

  test.each([
    ['nothing', undefined],
    ['21 bytes', bs58.encode(new Uint8Array(21).fill(2))],
    ['an unknown kind', secretOf(4)],
    ['a login with a currency', secretOf(3, 1)],
    ['a login with an amount', secretOf(3, 0, 0, 0, 0, 0, 0, 0, 1)],
    ['another spelling', `1${secretOf(2, 1)}`],
    ['a text without end', '2'.repeat(1_000_000)],
  ])('refuses %s without repeating it in the message', (_name, secret) => {
    for (const kind of ['payment', 'login'] as const) {
      expect(() => decodeClientSecret(secret, kind)).toThrow(
        new TypeError(`The client secret must be that of a ${kind} intent.`),
      );
    }
  });
});
