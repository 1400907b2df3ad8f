import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { jest } from '@jest/globals';
import { seededRandom } from '../wire/seeded-random.js';
import { nacl } from './unsandboxed-nacl.js';

jest.unstable_mockModule('tweetnacl', () => ({ default: nacl }));
const { keyPairFromSeed, verifySignature } = await import('../../src/keys/ed25519.js');
const { portableKeyPair, portableVerify } = await import('../../src/keys/portable-ed25519.js');

interface Vector {
  readonly name: string;
  readonly seed: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('./rfc8032-vectors.json', import.meta.url), 'utf8'));
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');

const implementations = [
  { name: 'native', keyPair: keyPairFromSeed, verify: verifySignature },
  { name: 'portable', keyPair: portableKeyPair, verify: portableVerify },
];

describe.each(implementations)('RFC 8032 section 7.1, $name (protocol 1)', ({ keyPair, verify }) => {
  test.each(vectors)('$name', ({ seed, publicKey, message, signature }) => {
    const pair = keyPair(bytes(seed));
    expect(hex(pair.publicKey)).toBe(publicKey);
    expect(hex(pair.sign(bytes(message)))).toBe(signature);
    expect(verify(bytes(publicKey), bytes(message), bytes(signature))).toBe(true);
    expect(verify(bytes(publicKey), bytes(`${message}00`), bytes(signature))).toBe(false);
  });
});

test('the vectors are those of tweetnacl too, and are the five', () => {
  expect(vectors.map(({ message }) => message.length / 2)).toEqual([0, 1, 2, 1023, 64]);
  for (const { seed, publicKey, message, signature } of vectors) {
    const pair = nacl.sign.keyPair.fromSeed(bytes(seed));
    expect(hex(pair.publicKey)).toBe(publicKey);
    expect(hex(nacl.sign.detached(bytes(message), pair.secretKey))).toBe(signature);
  }
});

// Portable signatures are dear: a thousand of them take longer than all other tests together. So their digest was taken
// once, with `portableEvery` at 1, and every twentieth is made anew; the implementation has no state and no randomness.
const portableEvery = 20;
const digestOfPortable = '13aa3c133a2698eafeac559505c79444cc133ea7edc4ebc5cf8ad6d8259f4f50';

test('native and portable agree on 1,000 inputs, and each verifies what the other signed', () => {
  const random = seededRandom(8032);
  const pairs = Array.from({ length: 10 }, () => random.bytes(32)).map((seed) => ({
    native: keyPairFromSeed(seed),
    portable: portableKeyPair(seed),
  }));
  for (const { native, portable } of pairs) expect(hex(portable.publicKey)).toBe(hex(native.publicKey));
  const digest = createHash('sha256');
  for (let i = 0; i < 1_000; i++) {
    const message = random.bytes(random.below(200));
    const { native, portable } = random.pick(pairs);
    const isPortable = i % portableEvery === 0;
    const signature = (isPortable ? portable : native).sign(message);
    digest.update(signature);
    expect(hex(native.sign(message))).toBe(hex(signature));
    const turned = Uint8Array.from(signature);
    const at = random.below(64);
    turned[at] = (turned[at] ?? 0) ^ (1 << random.below(8));
    for (const verify of isPortable ? [verifySignature, portableVerify] : [verifySignature]) {
      expect(verify(native.publicKey, message, signature)).toBe(true);
      expect(verify(native.publicKey, message, turned)).toBe(false);
    }
  }
  expect(digest.digest('hex')).toBe(digestOfPortable);
}, 60_000);

describe('what cannot verify is simply false (interface 8)', () => {
  const { publicKey, sign } = (() => {
    const pair = keyPairFromSeed(new Uint8Array(32).fill(1));
    return { publicKey: pair.publicKey, sign: (message: Uint8Array) => pair.sign(message) };
  })();
  const message = Uint8Array.of(1, 2, 3);
  const signature = sign(message);

  test.each([0, 1, 31, 33, 64])('a public key of %d bytes', (length) => {
    const key = new Uint8Array(length);
    key.set(publicKey.subarray(0, length));
    expect(verifySignature(key, message, signature)).toBe(false);
  });

  test.each([0, 1, 32, 63, 65, 128])('a signature of %d bytes', (length) => {
    const cut = new Uint8Array(length);
    cut.set(signature.subarray(0, length));
    expect(verifySignature(publicKey, message, cut)).toBe(false);
  });

  test('a public key that is no point of the curve', () => {
    for (const byte of [0x02, 0x55, 0xed, 0xff]) {
      expect(verifySignature(new Uint8Array(32).fill(byte), message, signature)).toBe(false);
    }
  });

  test('a signature whose second half is not reduced: RFC 8032 section 5.1.7 knows one signature only', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${hex(Uint8Array.from(signature.subarray(32)).reverse())}`) + order;
    const malleable = Uint8Array.from(signature);
    malleable.set(bytes(s.toString(16).padStart(64, '0')).reverse(), 32);
    expect(verifySignature(publicKey, message, malleable)).toBe(false);
  });

  test('the message is covered whole, and a key pair signs the same again', () => {
    expect(verifySignature(publicKey, message.subarray(1), signature)).toBe(false);
    expect(verifySignature(publicKey, Uint8Array.of(1, 2, 3, 0), signature)).toBe(false);
    expect(hex(sign(message))).toBe(hex(signature));
  });

  test.each(implementations)('a seed of another length makes no key pair: $name', ({ keyPair }) => {
    for (const length of [0, 31, 33, 64]) expect(() => keyPair(new Uint8Array(length))).toThrow();
  });
});
