import { jest } from '@jest/globals';
import bs58 from 'bs58';
import { type Signer, signChecked, signerFromSeed } from '../../src/keys/verifier-key.js';
import { rejectedCode } from '../wire/thrown-code.js';
import { nacl } from './unsandboxed-nacl.js';

const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(5));
const stranger = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(6));
const bytes = new TextEncoder().encode('bytes to sign');
const publicKey = bs58.encode(pair.publicKey);
const good = nacl.sign.detached(bytes, pair.secretKey);

const signerThat = (sign: () => unknown): Signer => ({ publicKey, sign: sign as Signer['sign'] });

describe('a custom signer is checked (interface 5.3)', () => {
  test.each<[string, () => unknown]>([
    ['at once', () => good],
    ['later', async () => good],
    ['as a Buffer', () => Buffer.from(good)],
  ])('and its valid signature, returned %s, is used', async (_, sign) => {
    expect(Buffer.from(await signChecked(signerThat(sign), bytes))).toEqual(Buffer.from(good));
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the KMS is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the KMS is down'))],
    ['returns undefined', () => undefined],
    ['returns 63 bytes', () => good.subarray(1)],
    ['returns 65 bytes', () => Uint8Array.of(...good, 0)],
    ['returns hex', () => Buffer.from(good).toString('hex')],
    ['returns an object shaped like bytes', () => ({ ...good, length: 64 })],
    ['signs with another key', () => nacl.sign.detached(bytes, stranger.secretKey)],
    ['signs other bytes', () => nacl.sign.detached(bytes.subarray(1), pair.secretKey)],
    ['returns 64 zeros', () => new Uint8Array(64)],
    ['turns one bit', () => good.map((byte, i) => (i === 40 ? byte ^ 1 : byte))],
  ])('and is signer_failed when it %s', async (_, sign) => {
    expect(await rejectedCode(signChecked(signerThat(sign), bytes))).toBe('signer_failed');
  });

  test('and its error is kept as the cause, without its text in the message', async () => {
    const cause = new Error('credentials AKIA-SECRET are wrong');
    const error = await signChecked(
      signerThat(() => Promise.reject(cause)),
      bytes,
    ).catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: 'signer_failed', cause });
    expect((error as Error).message).not.toContain('AKIA');
  });

  test('and an invalid public key is invalid_key', async () => {
    expect(await rejectedCode(signChecked({ publicKey: 'none', sign: () => good }, bytes))).toBe('invalid_key');
  });

  test('and the built-in signer returns the signature of RFC 8032 for its seed', async () => {
    const signature = await signChecked(signerFromSeed(new Uint8Array(32).fill(5)), bytes);
    expect(Buffer.from(signature)).toEqual(Buffer.from(good));
  });
});

test('a signer that never resolves times out after 5 seconds', async () => {
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
