import { jest } from '@jest/globals';
import bs58 from 'bs58';
import { type Signer, signChecked, signerFromSeed } from '../../src/keys/verifier-key.js';
import { rejectedCode } from '../wire/thrown-code.js';
import { nacl } from './unsandboxed-nacl.js';

const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(5));
const stranger = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(6));
const bytes = new TextEncoder().encode('what is to be signed');
const publicKey = bs58.encode(pair.publicKey);
const good = nacl.sign.detached(bytes, pair.secretKey);

const signerThat = (sign: () => unknown): Signer => ({ publicKey, sign: sign as Signer['sign'] });

describe('a signer of your own is checked (interface 5.3)', () => {
  test.each<[string, () => unknown]>([
    ['at once', () => good],
    ['later', async () => good],
    ['as a Buffer', () => Buffer.from(good)],
  ])('a good signature given %s is handed on', async (_, sign) => {
    expect(Buffer.from(await signChecked(signerThat(sign), bytes))).toEqual(Buffer.from(good));
  });

  test('it is handed exactly the bytes, and called once', async () => {
    const seen: Uint8Array[] = [];
    const sign = (handed: Uint8Array): Uint8Array => {
      seen.push(handed);
      return good;
    };
    await signChecked({ publicKey, sign }, bytes);
    expect(seen).toEqual([bytes]);
  });

  test('it is called as a method of its own', async () => {
    class KmsSigner implements Signer {
      readonly publicKey = publicKey;
      readonly #signature = good;
      sign(): Uint8Array {
        return this.#signature;
      }
    }
    await expect(signChecked(new KmsSigner(), bytes)).resolves.toBe(good);
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the KMS is down');
      },
    ],
    [
      'throws no error',
      () => {
        throw 'the KMS is down';
      },
    ],
    ['rejects', () => Promise.reject(new Error('the KMS is down'))],
    ['gives nothing', () => undefined],
    ['gives null later', async () => null],
    ['gives no bytes', () => new Uint8Array()],
    ['gives 63 bytes', () => good.subarray(1)],
    ['gives 65 bytes', () => Uint8Array.of(...good, 0)],
    ['gives hex', () => Buffer.from(good).toString('hex')],
    ['gives Base58', () => bs58.encode(good)],
    ['gives an array of numbers', () => [...good]],
    ['gives an ArrayBuffer', () => good.slice().buffer],
    ['gives what is shaped like bytes', () => ({ ...good, length: 64 })],
    ['signs with another key', () => nacl.sign.detached(bytes, stranger.secretKey)],
    ['signs other bytes', () => nacl.sign.detached(bytes.subarray(1), pair.secretKey)],
    ['gives 64 zeros', () => new Uint8Array(64)],
    ['gives signature and message in one', () => nacl.sign(bytes, pair.secretKey)],
    ['turns one bit', () => good.map((byte, i) => (i === 40 ? byte ^ 1 : byte))],
  ])('signer_failed when it %s', async (_, sign) => {
    expect(await rejectedCode(signChecked(signerThat(sign), bytes))).toBe('signer_failed');
  });

  test('the cause of a throw is kept, and its text is not repeated', async () => {
    const cause = new Error('credentials AKIA-SECRET are wrong');
    const error = await signChecked(
      signerThat(() => Promise.reject(cause)),
      bytes,
    ).catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: 'signer_failed', cause });
    expect((error as Error).message).not.toContain('AKIA');
  });

  test('a public key that is none is invalid_key', async () => {
    expect(await rejectedCode(signChecked({ publicKey: 'none', sign: () => good }, bytes))).toBe('invalid_key');
  });

  test('a signer of ours gives the signature that RFC 8032 has for its seed', async () => {
    const signature = await signChecked(signerFromSeed(new Uint8Array(32).fill(5)), bytes);
    expect(Buffer.from(signature)).toEqual(Buffer.from(good));
  });
});

test('a signer that never answers is given up after 5 seconds', async () => {
  jest.useFakeTimers();
  try {
    const code = rejectedCode(
      signChecked(
        signerThat(() => new Promise(() => {})),
        bytes,
      ),
    );
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await code).toBe('signer_failed');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
