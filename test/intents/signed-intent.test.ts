import bs58 from 'bs58';
import { parseClientSecret } from '../../src/intents/payload.js';
import {
  type PaymentTerms,
  type SignedIntent,
  signLoginIntent,
  signPaymentIntent,
} from '../../src/intents/signed-intent.js';
import { type Signer, signerFromSeed } from '../../src/keys/verifier-key.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { nacl } from '../keys/unsandboxed-nacl.js';
import { rejectedCode } from '../wire/thrown-code.js';
import { doubleField, field, join, varintField } from './hand-written-wire.js';

// test/sequencer/sent-bytes.test.ts verifies the bytes that are sent, and test/vectors compares them with known intents.

const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
const seed = Uint8Array.from({ length: 32 }, (_, i) => 99 - i);
const keys = nacl.sign.keyPair.fromSeed(seed);
const verifier = signerFromSeed(seed);
const usd: PaymentTerms = { amount: '12.50', currency: 'usd', destination };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('a payment with a login in kin has the bytes that were computed by hand (interface 2.4, 5.3; protocol 3, 4)', async () => {
  const terms = { amount: 12.5, currency: 'kin', destination, login: { domain: 'example.com', verifier } };
  const intent = await signPaymentIntent(terms);
  const account = field(1, field(1, bs58.decode(destination)));
  const exact = join(field(1, 'kin'), doubleField(2, 1), doubleField(3, 12.5), varintField(4, 1_250_000n));
  const head = join(account, field(2, exact), field(4, field(1, 'example.com')), field(5, field(1, keys.publicKey)));
  const tail = field(7, field(1, intent.rendezvousKey));
  // The verifier signs the whole request except its own signature.
  const signature = nacl.sign.detached(join(head, tail), keys.secretKey);
  const expected = field(5, join(head, field(6, field(1, signature)), tail));
  expect(hex(encode(v1.Message, intent.message))).toBe(hex(expected));
  expect(nacl.sign.detached.verify(expected, intent.signature, bs58.decode(intent.id))).toBe(true);
});

test('a payment of the largest amount in kin has exact quarks beyond 2^53', async () => {
  const { message } = await signPaymentIntent({ amount: '70368744177663.99', currency: 'kin', destination });
  expect(String(message.requestToReceiveBill?.exact?.quarks)).toBe('7036874417766399000');
});

test('a number and a text of the same amount, and a synchronous and an asynchronous signer, give the same bytes', async () => {
  const nonce = new Uint8Array(11).fill(3);
  const later: Signer = {
    publicKey: verifier.publicKey,
    sign: async (bytes) => nacl.sign.detached(Uint8Array.from(bytes), keys.secretKey),
  };
  const bytesOf = ({ message, signature, id }: SignedIntent): string[] => [
    hex(encode(v1.Message, message)),
    hex(signature),
    id,
  ];
  expect(bytesOf(await signPaymentIntent({ ...usd, amount: 12.5 }, { nonce }))).toEqual(
    bytesOf(await signPaymentIntent(usd, { nonce })),
  );
  const [one, other] = await Promise.all(
    [verifier, later].map((each) => signLoginIntent({ domain: 'example.com', verifier: each }, { nonce })),
  );
  expect(bytesOf(one as SignedIntent)).toEqual(bytesOf(other as SignedIntent));
});

test.each<[string, Signer, string]>([
  ['www.example.com', verifier, 'invalid_domain'],
  ['example.com', { publicKey: 'x', sign: () => new Uint8Array(64) }, 'invalid_key'],
  ['example.com', { publicKey: verifier.publicKey, sign: () => new Uint8Array(64) }, 'signer_failed'],
])('a login at %s with a bad domain or verifier is rejected, also in a payment', async (domain, signer, code) => {
  const login = { domain, verifier: signer };
  expect(await rejectedCode(signLoginIntent(login))).toBe(code);
  expect(await rejectedCode(signPaymentIntent({ ...usd, login }))).toBe(code);
});

test('nonces are random: 1,000 intents of the same terms share no id, secret or constant nonce byte (protocol 2)', async () => {
  const intents = await Promise.all(Array.from({ length: 1_000 }, () => signPaymentIntent(usd)));
  expect(new Set(intents.map(({ id }) => id)).size).toBe(1_000);
  const payloads = intents.map(({ clientSecret }) => parseClientSecret(clientSecret));
  expect(new Set(payloads.map((payload) => hex(payload.subarray(0, 9)))).size).toBe(1);
  for (let at = 9; at < 20; at++) {
    // 1,000 random bytes miss about 5 of 256 values; a byte that is not random takes far fewer values.
    expect(new Set(payloads.map((payload) => payload[at])).size).toBeGreaterThan(200);
  }
});
