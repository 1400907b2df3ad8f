import { hkdfSync } from 'node:crypto';
import bs58 from 'bs58';
import { createKeyRing, deriveKey } from '../../src/keys/key-ring.js';
import type { Signer } from '../../src/keys/verifier-key.js';
import { createSigner, generateKeyPair, signerFromSeed } from '../../src/keys/verifier-key.js';
import { thrownCode } from '../wire/thrown-code.js';
import { nacl } from './unsandboxed-nacl.js';

const seeds = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
const [a, b, _c] = seeds.map((seed) => bs58.encode(seed)) as [string, string, string];
const [keyA, keyB, _keyC] = seeds.map((seed) => bs58.encode(nacl.sign.keyPair.fromSeed(seed).publicKey)) as [
  string,
  string,
  string,
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the verifier key ring (interface 2.7, 4.6, 5.3)', () => {
  test('publishes a key once that is given in several forms', () => {
    const again = hex(nacl.sign.keyPair.fromSeed(seeds[0] as Uint8Array).secretKey);
    expect(createKeyRing(`${a},${again},${b},${a}`).publicKeys).toEqual([keyA, keyB]);
  });

  test.each(['', 'not a key', `1${keyA}`, keyA.slice(2), undefined, 5])(
    'with a signer whose public key is %p is invalid_key',
    (publicKey) => {
      const signer = { publicKey, sign: () => new Uint8Array(64) } as unknown as Signer;
      expect(thrownCode(() => createKeyRing(a, signer))).toBe('invalid_key');
    },
  );
});

describe('keys derived from the secrets', () => {
  test('are one of 32 bytes for each secret, HKDF-SHA-256 of its seed, in order', () => {
    const expected = [1, 0].map((i) =>
      hex(new Uint8Array(hkdfSync('sha256', seeds[i] as Uint8Array, '', 'cookies', 32))),
    );
    expect(createKeyRing(`${b},${a}`).deriveKeys('cookies').map(hex)).toEqual(expected);
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
});
