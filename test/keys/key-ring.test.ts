import { hkdfSync } from 'node:crypto';
import bs58 from 'bs58';
import { createKeyRing, deriveKey } from '../../src/keys/key-ring.js';
import type { Signer } from '../../src/keys/verifier-key.js';
import { createSigner, generateKeyPair, signerFromSeed } from '../../src/keys/verifier-key.js';
import { thrownCode } from '../wire/thrown-code.js';
import { nacl } from './unsandboxed-nacl.js';

const seeds = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
const [a, b, c] = seeds.map((seed) => bs58.encode(seed)) as [string, string, string];
const [keyA, keyB, keyC] = seeds.map((seed) => bs58.encode(nacl.sign.keyPair.fromSeed(seed).publicKey)) as [
  string,
  string,
  string,
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the verifier key ring (interface 2.7, 4.6, 5.3)', () => {
  test('signs with the first secret and publishes all, in the given order', () => {
    const ring = createKeyRing(`${b},${a},${c}`);
    expect(ring.signer.publicKey).toBe(keyB);
    expect(ring.publicKeys).toEqual([keyB, keyA, keyC]);
  });

  test('signs with a new first key after a rotation, and still publishes the previous one', () => {
    const before = createKeyRing(a);
    const during = createKeyRing(`${c},${a}`);
    expect(before.publicKeys).toEqual([keyA]);
    expect([during.signer.publicKey, during.publicKeys]).toEqual([keyC, [keyC, keyA]]);
  });

  test('publishes a key once that is given in several forms', () => {
    const again = hex(nacl.sign.keyPair.fromSeed(seeds[0] as Uint8Array).secretKey);
    expect(createKeyRing(`${a},${again},${b},${a}`).publicKeys).toEqual([keyA, keyB]);
  });

  test('has a custom signer first, and once', () => {
    const own: Signer = { publicKey: keyC, sign: () => new Uint8Array(64) };
    const ring = createKeyRing(`${a},${c}`, own);
    expect(ring.signer).toBe(own);
    expect(ring.publicKeys).toEqual([keyC, keyA]);
    expect(createKeyRing('', own).publicKeys).toEqual([keyC]);
  });

  test('signs with the secret of the key that it names', () => {
    const { signer } = createKeyRing(`${b},${a}`);
    const signature = signer.sign(Uint8Array.of(1)) as Uint8Array;
    expect(nacl.sign.detached.verify(Uint8Array.of(1), signature, bs58.decode(keyB))).toBe(true);
  });

  test.each(['', ' , \n'])('without secrets (%j) is invalid_key', (text) => {
    expect(thrownCode(() => createKeyRing(text))).toBe('invalid_key');
  });

  test.each(['', 'not a key', `1${keyA}`, keyA.slice(2), undefined, 5])(
    'with a signer whose public key is %p is invalid_key',
    (publicKey) => {
      const signer = { publicKey, sign: () => new Uint8Array(64) } as unknown as Signer;
      expect(thrownCode(() => createKeyRing(a, signer))).toBe('invalid_key');
    },
  );

  test('with one invalid secret is rejected', () => {
    expect(thrownCode(() => createKeyRing(`${a},${b.slice(2)}`))).toBe('invalid_key');
  });

  test('is immutable, and so is its list', () => {
    const ring = createKeyRing(a);
    expect(Object.isFrozen(ring)).toBe(true);
    expect(() => (ring.publicKeys as string[]).push('more')).toThrow(TypeError);
  });
});

describe('keys derived from the secrets', () => {
  test('are one of 32 bytes for each secret, HKDF-SHA-256 of its seed, in order', () => {
    const expected = [1, 0].map((i) =>
      hex(new Uint8Array(hkdfSync('sha256', seeds[i] as Uint8Array, '', 'cookies', 32))),
    );
    expect(createKeyRing(`${b},${a}`).deriveKeys('cookies').map(hex)).toEqual(expected);
  });

  test('depend on purpose and secret only', () => {
    const ring = createKeyRing(a);
    const derived = [ring.deriveKeys('x'), ring.deriveKeys('y'), createKeyRing(b).deriveKeys('x')].flat().map(hex);
    expect(new Set([...derived, hex(seeds[0] as Uint8Array)]).size).toBe(4);
    expect(ring.deriveKeys('x').map(hex)).toEqual(createKeyRing(a).deriveKeys('x').map(hex));
  });

  test('do not exist for a custom signer, whose secret is unknown', () => {
    expect(createKeyRing('', { publicKey: keyC, sign: () => new Uint8Array(64) }).deriveKeys('x')).toEqual([]);
  });
});

describe('a new key pair', () => {
  test('has a secret that parses to its public key, and is unique', () => {
    const keys = Array.from({ length: 100 }, generateKeyPair);
    for (const { secret, publicKey } of keys) expect(createSigner(secret).publicKey).toBe(publicKey);
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(100);
    expect(signerFromSeed(bs58.decode(keys[0]?.secret ?? '')).publicKey).toBe(keys[0]?.publicKey);
  });
});

describe('deriveKey', () => {
  // The first 32 of its 42 bytes.
  test('of the vector without a salt of RFC 5869 (A.3) is the published key', () => {
    const expected = '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d';
    expect(hex(deriveKey(new Uint8Array(22).fill(0x0b), ''))).toBe(expected);
  });

  test.each([
    ['', ''],
    ['a text secret', 'a purpose'],
    [new Uint8Array(64).fill(7), 'a purpose with ümlauts'],
    ['s'.repeat(200), 'p'.repeat(900)],
  ])('of %p for %p is the key of hkdfSync', (secret, purpose) => {
    expect(hex(deriveKey(secret, purpose))).toBe(hex(new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32))));
  });

  test('of another purpose or secret is another key', () => {
    const keys = [deriveKey('a', 'b'), deriveKey('a', 'c'), deriveKey('b', 'b')].map(hex);
    expect(new Set(keys).size).toBe(3);
  });
});
