import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { decodePayload, parseClientSecret } from '../../src/intents/payload.js';
import { type PaymentTerms, type SignedIntent, signPaymentIntent } from '../../src/intents/signed-intent.js';
import { signerFromSeed } from '../../src/keys/verifier-key.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { nacl } from '../keys/unsandboxed-nacl.js';
import { rejectedCode } from '../wire/thrown-code.js';
import { doubleField, field, join, varintField } from './hand-written-wire.js';

const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
const account = field(1, field(1, bs58.decode(destination)));
const verifierSeed = Uint8Array.from({ length: 32 }, (_, i) => 99 - i);
const verifierKeys = nacl.sign.keyPair.fromSeed(verifierSeed);
const verifier = signerFromSeed(verifierSeed);
const login = { domain: 'example.com', verifier };
const usd: PaymentTerms = { amount: '12.50', currency: 'usd', destination };

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (intent: SignedIntent): string => hex(encode(v1.Message, intent.message));
const namedKey = (intent: SignedIntent): Uint8Array => field(7, field(1, intent.rendezvousKey));

/** The values that anyone can derive from the client secret, with SHA-256 and tweetnacl (protocol 2). */
function expectToBeSignedByItsRendezvous(intent: SignedIntent): void {
  const seed = createHash('sha256').update(bs58.decode(intent.clientSecret)).digest();
  const { publicKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(seed));
  expect(intent.id).toBe(bs58.encode(publicKey));
  expect(hex(intent.rendezvousKey)).toBe(hex(publicKey));
  expect(nacl.sign.detached.verify(encode(v1.Message, intent.message), intent.signature, publicKey)).toBe(true);
}

describe('a payment intent (interface 2.4, 4.7, 5.2)', () => {
  test('in usd is partial, with currency, amount and its own rendezvous key, and without a rate', async () => {
    const intent = await signPaymentIntent(usd);
    const partial = field(3, join(field(1, 'usd'), doubleField(2, 12.5)));
    expect(bytesOf(intent)).toBe(hex(field(5, join(account, partial, namedKey(intent)))));
    expectToBeSignedByItsRendezvous(intent);
    expect(decodePayload(parseClientSecret(intent.clientSecret))).toMatchObject({
      kind: 'payment',
      money: { currency: 'usd', hundredths: 1250n },
    });
  });

  test('in kin is exact, with rate 1 and 100,000 quarks for each unit', async () => {
    const intent = await signPaymentIntent({ amount: 12.5, currency: 'kin', destination });
    const exact = join(field(1, 'kin'), doubleField(2, 1), doubleField(3, 12.5), varintField(4, 1_250_000n));
    expect(bytesOf(intent)).toBe(hex(field(5, join(account, field(2, exact), namedKey(intent)))));
    expectToBeSignedByItsRendezvous(intent);
  });

  test('of the largest amount in kin has exact quarks beyond 2^53', async () => {
    const { message } = await signPaymentIntent({ amount: '184467440737095.51', currency: 'kin', destination });
    expect(String(message.requestToReceiveBill?.exact?.quarks)).toBe('18446744073709551000');
  });

  test('without includesRendezvousKey names no key in the message (the messaging dialect, protocol 5)', async () => {
    const intent = await signPaymentIntent(usd, { includesRendezvousKey: false });
    const partial = field(3, join(field(1, 'usd'), doubleField(2, 12.5)));
    expect(bytesOf(intent)).toBe(hex(field(5, join(account, partial))));
    expectToBeSignedByItsRendezvous(intent);
  });

  test('has the same bytes for a number and a text of the same amount', async () => {
    const nonce = new Uint8Array(11).fill(3);
    const [one, other] = [
      await signPaymentIntent({ ...usd, amount: 12.5 }, { nonce }),
      await signPaymentIntent(usd, { nonce }),
    ];
    expect(bytesOf(one)).toBe(bytesOf(other));
    expect([one.id, one.clientSecret, hex(one.signature)]).toEqual([
      other.id,
      other.clientSecret,
      hex(other.signature),
    ]);
  });
});

describe('a payment with login (interface 2.4, 5.3; protocol 3, 4)', () => {
  test.each([
    ['usd', true],
    ['usd', false],
    ['kin', true],
  ] as const)(
    'in %s sets fields 4 to 7, with and without the rendezvous key (%p)',
    async (currency, includesRendezvousKey) => {
      const intent = await signPaymentIntent({ amount: '1', currency, destination, login }, { includesRendezvousKey });
      const data =
        currency === 'kin'
          ? field(2, join(field(1, 'kin'), doubleField(2, 1), doubleField(3, 1), varintField(4, 100_000n)))
          : field(3, join(field(1, 'usd'), doubleField(2, 1)));
      const domain = field(4, field(1, 'example.com'));
      const verifierField = field(5, field(1, verifierKeys.publicKey));
      // The verifier signs the whole request except its own signature.
      const covered = join(account, data, domain, verifierField, namedKey(intent));
      const signature = nacl.sign.detached(covered, verifierKeys.secretKey);
      const request = join(account, data, domain, verifierField, field(6, field(1, signature)), namedKey(intent));
      expect(bytesOf(intent)).toBe(hex(field(5, request)));
      expectToBeSignedByItsRendezvous(intent);
    },
  );

  test.each<[string, Partial<PaymentTerms>, string]>([
    ['a subdomain', { login: { ...login, domain: 'www.example.com' } }, 'invalid_domain'],
    ['a URL', { login: { ...login, domain: 'https://example.com' } }, 'invalid_domain'],
    [
      'a verifier without a key',
      { login: { ...login, verifier: { ...verifier, publicKey: 'x', sign: () => new Uint8Array(64) } } },
      'invalid_key',
    ],
    [
      'a verifier that signs badly',
      { login: { ...login, verifier: { publicKey: verifier.publicKey, sign: () => new Uint8Array(64) } } },
      'signer_failed',
    ],
    ['an invalid destination', { destination: 'x' }, 'invalid_account'],
    ['a destination that is missing', { destination: undefined as unknown as string }, 'invalid_account'],
    ['three decimals', { amount: '1.005' }, 'invalid_amount'],
    ['too little', { amount: '0.04' }, 'amount_too_small'],
    ['too much', { amount: '720575940379279.36' }, 'amount_too_large'],
    ['an unknown currency', { currency: 'USD' }, 'unknown_currency'],
  ])('with %s is rejected', async (_, change, code) => {
    expect(await rejectedCode(signPaymentIntent({ ...usd, login, ...change }))).toBe(code);
  });
});

describe('nonces (protocol 2)', () => {
  test('are random: 1,000 intents of the same terms share no id, secret, signature or constant nonce byte', async () => {
    const intents = await Promise.all(Array.from({ length: 1_000 }, () => signPaymentIntent(usd)));
    for (const read of [
      (intent: SignedIntent) => intent.id,
      (intent: SignedIntent) => intent.clientSecret,
      (intent: SignedIntent) => hex(intent.signature),
    ]) {
      expect(new Set(intents.map(read)).size).toBe(1_000);
    }
    const payloads = intents.map(({ clientSecret }) => parseClientSecret(clientSecret));
    expect(new Set(payloads.map((payload) => hex(payload.subarray(0, 9)))).size).toBe(1);
    for (let at = 9; at < 20; at++) {
      // 1,000 random bytes miss about 5 of 256 values; a byte that is not random takes far fewer values.
      expect(new Set(payloads.map((payload) => payload[at])).size).toBeGreaterThan(200);
    }
  });
});
