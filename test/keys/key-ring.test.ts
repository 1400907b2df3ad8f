import { hkdfSync } from 'node:crypto';
import bs58 from 'bs58';
import { createKeyRing } from '../../src/keys/key-ring.js';
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
  test('the first secret signs, all are published, in the order given', () => {
    const ring = createKeyRing(`${b},${a},${c}`);
    expect(ring.signer.publicKey).toBe(keyB);
    expect(ring.publicKeys).toEqual([keyB, keyA, keyC]);
  });

  test('rotation: a new key in front signs, the one before it stays published', () => {
    const before = createKeyRing(a);
    const during = createKeyRing(`${c},${a}`);
    expect(before.publicKeys).toEqual([keyA]);
    expect([during.signer.publicKey, during.publicKeys]).toEqual([keyC, [keyC, keyA]]);
  });

  test('the same key in several forms is published once', () => {
    const again = hex(nacl.sign.keyPair.fromSeed(seeds[0] as Uint8Array).secretKey);
    expect(createKeyRing(`${a},${again},${b},${a}`).publicKeys).toEqual([keyA, keyB]);
  });

  test('a signer of your own comes first, and once', () => {
    const own: Signer = { publicKey: keyC, sign: () => new Uint8Array(64) };
    const ring = createKeyRing(`${a},${c}`, own);
    expect(ring.signer).toBe(own);
    expect(ring.publicKeys).toEqual([keyC, keyA]);
    expect(createKeyRing('', own).publicKeys).toEqual([keyC]);
  });

  test('what signs is the secret of the key that is named', () => {
    const { signer } = createKeyRing(`${b},${a}`);
    const signature = signer.sign(Uint8Array.of(1)) as Uint8Array;
    expect(nacl.sign.detached.verify(Uint8Array.of(1), signature, bs58.decode(keyB))).toBe(true);
  });

  test.each(['', ' , \n'])('nothing at all (%j) is invalid_key', (text) => {
    expect(thrownCode(() => createKeyRing(text))).toBe('invalid_key');
  });

  test.each(['', 'not a key', `1${keyA}`, keyA.slice(2), undefined, 5])(
    'a signer with the public key %p is invalid_key',
    (publicKey) => {
      const signer = { publicKey, sign: () => new Uint8Array(64) } as unknown as Signer;
      expect(thrownCode(() => createKeyRing(a, signer))).toBe('invalid_key');
    },
  );

  test('one bad secret refuses the whole ring', () => {
    expect(thrownCode(() => createKeyRing(`${a},${b.slice(2)}`))).toBe('invalid_key');
  });

  test('neither the ring nor its list can be changed', () => {
    const ring = createKeyRing(a);
    expect(Object.isFrozen(ring)).toBe(true);
    expect(() => (ring.publicKeys as string[]).push('more')).toThrow(TypeError);
  });
});

describe('keys derived from the secrets', () => {
  test('one of 32 bytes for each secret, HKDF-SHA-256 of its seed, in order', () => {
    const expected = [1, 0].map((i) =>
      hex(new Uint8Array(hkdfSync('sha256', seeds[i] as Uint8Array, '', 'cookies', 32))),
    );
    expect(createKeyRing(`${b},${a}`).deriveKeys('cookies').map(hex)).toEqual(expected);
  });

  test('another purpose or another secret gives another key, the same gives the same', () => {
    const ring = createKeyRing(a);
    const derived = [ring.deriveKeys('x'), ring.deriveKeys('y'), createKeyRing(b).deriveKeys('x')].flat().map(hex);
    expect(new Set([...derived, hex(seeds[0] as Uint8Array)]).size).toBe(4);
    expect(ring.deriveKeys('x').map(hex)).toEqual(createKeyRing(a).deriveKeys('x').map(hex));
  });

  test('a signer of your own gives none: its secret is not at hand', () => {
    expect(createKeyRing('', { publicKey: keyC, sign: () => new Uint8Array(64) }).deriveKeys('x')).toEqual([]);
  });
});

describe('new keys', () => {
  test('a secret reads back to the public key beside it, and no two are the same', () => {
    const keys = Array.from({ length: 100 }, generateKeyPair);
    for (const { secret, publicKey } of keys) expect(createSigner(secret).publicKey).toBe(publicKey);
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(100);
    expect(signerFromSeed(bs58.decode(keys[0]?.secret ?? '')).publicKey).toBe(keys[0]?.publicKey);
  });
});
