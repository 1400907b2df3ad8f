import { readFileSync } from 'node:fs';
import { keyPairFromSeed, verifySignature } from '../../src/keys/ed25519.js';
import { seededRandom } from '../wire/seeded-random.js';
import { nacl } from './unsandboxed-nacl.js';

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

describe('Ed25519 agrees with RFC 8032 section 7.1 (protocol 1)', () => {
  test.each(vectors)('on $name', ({ seed, publicKey, message, signature }) => {
    const pair = keyPairFromSeed(bytes(seed));
    expect(hex(pair.publicKey)).toBe(publicKey);
    expect(hex(pair.sign(bytes(message)))).toBe(signature);
    expect(verifySignature(bytes(publicKey), bytes(message), bytes(signature))).toBe(true);
    expect(verifySignature(bytes(publicKey), bytes(`${message}00`), bytes(signature))).toBe(false);
  });
});

test('tweetnacl agrees with the five vectors of RFC 8032', () => {
  expect(vectors.map(({ message }) => message.length / 2)).toEqual([0, 1, 2, 1023, 64]);
  for (const { seed, publicKey, message, signature } of vectors) {
    const pair = nacl.sign.keyPair.fromSeed(bytes(seed));
    expect(hex(pair.publicKey)).toBe(publicKey);
    expect(hex(nacl.sign.detached(bytes(message), pair.secretKey))).toBe(signature);
  }
});

test('Ed25519 agrees with tweetnacl on 200 random inputs', () => {
  const random = seededRandom(8032);
  for (let n = 0; n < 200; n += 1) {
    const [seed, message] = [random.bytes(32), random.bytes(random.below(200))];
    const [ours, theirs] = [keyPairFromSeed(seed), nacl.sign.keyPair.fromSeed(seed)];
    expect(hex(ours.publicKey)).toBe(hex(theirs.publicKey));
    const signature = nacl.sign.detached(message, theirs.secretKey);
    expect(hex(ours.sign(message))).toBe(hex(signature));
    expect(verifySignature(ours.publicKey, message, signature)).toBe(true);
    const turned = Uint8Array.from(signature);
    const at = random.below(64);
    turned[at] = (turned[at] ?? 0) ^ (1 << random.below(8));
    expect(verifySignature(ours.publicKey, message, turned)).toBe(false);
  }
});

describe('Ed25519 verification returns false, without an error, for (interface 8)', () => {
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

  test('a public key that is not on the curve', () => {
    for (const byte of [0x02, 0x55, 0xed, 0xff]) {
      expect(verifySignature(new Uint8Array(32).fill(byte), message, signature)).toBe(false);
    }
  });

  test('a signature whose second half is not reduced (RFC 8032 section 5.1.7)', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${hex(Uint8Array.from(signature.subarray(32)).reverse())}`) + order;
    const malleable = Uint8Array.from(signature);
    malleable.set(bytes(s.toString(16).padStart(64, '0')).reverse(), 32);
    expect(verifySignature(publicKey, message, malleable)).toBe(false);
  });

  test('an Ed25519 signature covers the whole message and is deterministic', () => {
    expect(verifySignature(publicKey, message.subarray(1), signature)).toBe(false);
    expect(verifySignature(publicKey, Uint8Array.of(1, 2, 3, 0), signature)).toBe(false);
    expect(hex(sign(message))).toBe(hex(signature));
  });

  test('a seed of another length is rejected', () => {
    for (const length of [0, 31, 33, 64]) expect(() => keyPairFromSeed(new Uint8Array(length))).toThrow();
  });
});
