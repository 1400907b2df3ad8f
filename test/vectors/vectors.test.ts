import { readFileSync } from 'node:fs';
import { parseClientSecret } from '../../src/intents/payload.js';
import { signLoginIntent, signPaymentIntent } from '../../src/intents/signed-intent.js';
import { parseIntentId } from '../../src/keys/base58.js';
import { signerFromSeed } from '../../src/keys/verifier-key.js';
import { decode, encode, v1 } from '../../src/wire/codec.js';
import { encodeRequest, operations } from '../../src/wire/envelope.js';

const known = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

describe('the test vectors are reproduced byte for byte:', () => {
  test('payment of 0.05 usd', async () => {
    const { amount, currency, destination, ...expected } = known.payment;
    const intent = await signPaymentIntent(
      { amount, currency, destination },
      { includesRendezvousKey: false, nonce: bytes(expected.nonce) },
    );
    expect(hex(parseClientSecret(intent.clientSecret))).toBe(expected.payload);
    expect(intent.id).toBe(expected.id);
    expect(hex(encode(v1.Message, intent.message))).toBe(expected.message);
    expect(hex(intent.signature)).toBe(expected.signature);
  });

  test('login at example.com', async () => {
    const verifier = signerFromSeed(bytes(known.login.verifierSeed));
    expect(verifier.publicKey).toBe(known.login.verifier);
    const intent = await signLoginIntent({ domain: known.login.domain, verifier }, { nonce: bytes(known.login.nonce) });
    expect(hex(parseClientSecret(intent.clientSecret))).toBe(known.login.payload);
    expect(intent.id).toBe(known.login.id);
    expect(hex(encode(v1.Message, intent.message))).toBe(known.login.message);
    expect(hex(intent.signature)).toBe(known.login.signature);
  });

  test('status request in its envelope, with an explicitly empty version (interface 2.1, 4.4)', () => {
    const body = encode(v1.GetStatusRequest, { intentId: { value: parseIntentId(known.status.id) } });
    expect(hex(encodeRequest(operations.getStatus, body))).toBe(known.status.request);
  });

  test('status response with all three flags (interface 2.6)', () => {
    const { exists, codeScanned, intentSubmitted } = decode(v1.GetStatusResponse, bytes(known.status.responseBody));
    expect({ exists, codeScanned, intentSubmitted }).toEqual({
      exists: true,
      codeScanned: true,
      intentSubmitted: true,
    });
  });
});
