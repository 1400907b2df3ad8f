import { createPublicKey, verify } from 'node:crypto';
import bs58 from 'bs58';
import { parseConfig } from '../../src/config/config.js';
import { createIntentClient } from '../../src/index.js';
import { keyPairFromSeed, verifySignature } from '../../src/keys/ed25519.js';
import { createKeyRing } from '../../src/keys/key-ring.js';
import { generateKeyPair, signChecked } from '../../src/keys/verifier-key.js';
import { parseVerifyingKey, requireVerifyingKey } from '../../src/keys/verifying-key.js';
import { KeyFileReader } from '../../src/simulator/outbound/fetch-key-file.js';
import { forgedSignature, forger, smallOrderKeys } from '../support/small-order-keys.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { rejectedCode, thrownCode } from '../wire/thrown-code.js';
import { nacl } from './unsandboxed-nacl.js';

const x = (key: Uint8Array): string => Buffer.from(key).toString('base64url');

/** OpenSSL alone, without the check of this package. */
const verifies = (key: Uint8Array, message: Uint8Array): boolean =>
  verify(
    null,
    message,
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: x(key) }, format: 'jwk' }),
    forgedSignature,
  );

const messages = Array.from({ length: 200 }, (_, index) => Uint8Array.of(index));
const named = smallOrderKeys.map((key) => [Buffer.from(key).toString('hex'), key] as const);

describe('public keys of small order', () => {
  test.each(named)('%s verifies a forged signature, and is rejected', (_, key) => {
    const message = messages.find((each) => verifies(key, each)) ?? new Uint8Array();
    expect(verifies(key, message)).toBe(true);
    expect(nacl.sign.detached.verify(message, forgedSignature, key)).toBe(true);
    expect(verifySignature(key, message, forgedSignature)).toBe(false);
    expect(thrownCode(() => requireVerifyingKey(key))).toBe('invalid_key');
    expect(thrownCode(() => parseVerifyingKey(bs58.encode(key)))).toBe('invalid_key');
  });

  test('and no others are rejected', () => {
    for (let fill = 0; fill < 100; fill += 1) {
      const { publicKey } = keyPairFromSeed(new Uint8Array(32).fill(fill));
      expect(requireVerifyingKey(publicKey)).toBe(publicKey);
    }
  });

  const publicKey = bs58.encode(forger.publicKey);
  const signer = { ...forger, publicKey };

  test('are invalid_key as the key of a signer', async () => {
    expect(thrownCode(() => createKeyRing('', signer))).toBe('invalid_key');
    expect(await rejectedCode(signChecked(signer, Uint8Array.of(1)))).toBe('invalid_key');
    const client = createIntentClient({ transport: countingTransport() });
    const login = { verifier: publicKey, domain: 'shop.example' };
    expect(await rejectedCode(client.loginIntents.create({ login, signers: [signer] }))).toBe('invalid_key');
  });

  const { secret: verifierSecret } = generateKeyPair();
  const options = {
    sequencer: { url: 'https://sequencer.example' },
    login: { verifierSecret, domain: 'shop.example' },
    origin: 'https://shop.example',
  };

  test.each([
    ['login.signer', { login: { signer, domain: 'shop.example' } }],
    ['webhook.publicKeys', { webhook: { publicKeys: [publicKey] } }],
  ])('are a problem of the option %s', (setting, changes) => {
    expect(() => parseConfig({ ...options, ...changes }, {})).toThrow(`${setting}: The key is of small order`);
  });

  test('are invalid_key as keys of a domain', async () => {
    const keyFiles = new KeyFileReader();
    expect(thrownCode(() => keyFiles.trust('shop.example', [publicKey]))).toBe('invalid_key');
    keyFiles.setLocalDomain('shop.example', (_req, res) => res.end(JSON.stringify({ public_keys: [publicKey] })));
    const login = { domain: 'shop.example', verifier: publicKey };
    expect(await rejectedCode(keyFiles.verifyKeyPublished(login))).toBe('invalid_key');
  });
});
