import sodium from 'sodium-native';
import { createSigner, generateKeyPair } from '../../src/index.js';
import { keyPairFromSeed, type Sodium, useSodium } from '../../src/keys/ed25519.js';

const { crypto_sign_detached, crypto_sign_seed_keypair } = sodium;
const usedFor = (): string => keyPairFromSeed(new Uint8Array(32)).constructor.name;

/** Ignores that an array may be a part of a buffer. */
const whole: Sodium['crypto_sign_detached'] = (signature, message, secretKey) =>
  (sodium as Sodium).crypto_sign_detached(signature, new Uint8Array(message.buffer, 0, message.length), secretKey);

describe('useSodium rejects', () => {
  test.each<[string, unknown]>([
    ['a module without the functions', { default: sodium }],
    ['a signature that differs from node:crypto', { crypto_sign_seed_keypair, crypto_sign_detached: () => undefined }],
    ['a public key that differs from node:crypto', { crypto_sign_seed_keypair: () => undefined, crypto_sign_detached }],
    ['a signature of other bytes of the buffer', { crypto_sign_seed_keypair, crypto_sign_detached: whole }],
  ])('%s, and node:crypto stays in use', (_, given) => {
    const rejected = { code: 'invalid_configuration', message: expect.stringContaining('default export') };
    expect(() => useSodium(given as Sodium)).toThrow(expect.objectContaining(rejected));
    expect(usedFor()).toBe('NativeKeyPair');
  });
});

test('useSodium keeps the accepted functions when the module changes or another one is rejected', () => {
  const { secret } = generateKeyPair();
  const message = Buffer.from('a message of a site');
  const expected = createSigner(secret).sign(message);
  const module = { crypto_sign_seed_keypair, crypto_sign_detached };
  useSodium(module);
  module.crypto_sign_detached = () => undefined;
  expect(() => useSodium(module)).toThrow('node:crypto');
  expect(usedFor()).toBe('SodiumKeyPair');
  const signature = createSigner(secret).sign(message);
  expect(signature).toEqual(expected);
  expect(Buffer.isBuffer(signature)).toBe(Buffer.isBuffer(expected));
});
