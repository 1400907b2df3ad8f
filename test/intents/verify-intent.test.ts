import bs58 from 'bs58';
import type { Payload } from '../../src/intents/payload.js';
import {
  extractSignedBytes,
  type SignedIntent,
  signLoginIntent,
  signPaymentIntent,
} from '../../src/intents/signed-intent.js';
import { decodeCanonical, type IntentRequest, matchesRequest, verifyIntent } from '../../src/intents/verify-intent.js';
import { keyPairFromSeed } from '../../src/keys/ed25519.js';
import { signerFromSeed } from '../../src/keys/verifier-key.js';
import { encode, toUint64, v1 } from '../../src/wire/codec.js';
import { thrownCode } from '../wire/thrown-code.js';
import { doubleField, field, join, varintField } from './hand-written-wire.js';

const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
const verifier = signerFromSeed(new Uint8Array(32).fill(21));
const stranger = signerFromSeed(new Uint8Array(32).fill(22));
const login = { domain: 'example.com', verifier };
const statedLogin = { domain: 'example.com', verifier: verifier.publicKey };
const rendezvous = keyPairFromSeed(new Uint8Array(32).fill(31));

/** Verifies a signed intent from its bytes alone. */
function receive(bytes: Uint8Array, rendezvousKey: Uint8Array, signature: Uint8Array): IntentRequest {
  return verifyIntent(decodeCanonical(v1.Message, bytes), rendezvousKey, signature, extractSignedBytes(bytes));
}

const receiveIntent = ({ message, rendezvousKey, signature }: SignedIntent): IntentRequest =>
  receive(encode(v1.Message, message), rendezvousKey, signature);

/** Bytes encoded by hand with a valid signature of the rendezvous. */
const receiveSigned = (bytes: Uint8Array): IntentRequest =>
  receive(bytes, rendezvous.publicKey, rendezvous.sign(bytes));

const built: [string, () => Promise<SignedIntent>, IntentRequest][] = [
  [
    'a partial payment',
    () => signPaymentIntent({ amount: '12.50', currency: 'usd', destination }),
    { kind: 'payment', money: { currency: 'usd', hundredths: 1250n }, rate: undefined, destination, login: undefined },
  ],
  [
    'a payment that names no rendezvous',
    () => signPaymentIntent({ amount: 0.05, currency: 'usd', destination }, { includesRendezvousKey: false }),
    { kind: 'payment', money: { currency: 'usd', hundredths: 5n }, rate: undefined, destination, login: undefined },
  ],
  [
    'a payment in kin',
    () => signPaymentIntent({ amount: '3', currency: 'kin', destination }),
    {
      kind: 'payment',
      money: { currency: 'kin', hundredths: 300n },
      rate: { exchangeRate: 1, quarks: 300_000n },
      destination,
      login: undefined,
    },
  ],
  [
    'a payment at a fixed rate',
    () =>
      signPaymentIntent({
        amount: '4.50',
        currency: 'usd',
        exact: { exchangeRate: 0.25, quarks: 1_800_000n },
        destination,
      }),
    {
      kind: 'payment',
      money: { currency: 'usd', hundredths: 450n },
      rate: { exchangeRate: 0.25, quarks: 1_800_000n },
      destination,
      login: undefined,
    },
  ],
  [
    'a payment with a login',
    () => signPaymentIntent({ amount: '7.01', currency: 'eur', destination, login }),
    { kind: 'payment', money: { currency: 'eur', hundredths: 701n }, rate: undefined, destination, login: statedLogin },
  ],
  ['a login', () => signLoginIntent(login), { kind: 'login', login: statedLogin }],
];

describe('a signed intent is accepted, and rejected after any change (interface 2.4, 2.5, 5)', () => {
  test.each(built)('%s', async (_, build, expected) => {
    const intent = await build();
    expect(receiveIntent(intent)).toEqual(expected);
  });

  test.each(built)('%s, with each single bit of the message flipped', async (_, build) => {
    const { message, rendezvousKey, signature } = await build();
    const bytes = encode(v1.Message, message);
    const codes = everyBitTurned(bytes).map((turned) => thrownCode(() => receive(turned, rendezvousKey, signature)));
    expect(codes).toHaveLength(bytes.length * 8);
    expect([...new Set(codes)].sort()).toEqual(['invalid_signature', 'malformed_message']);
  });

  test.each(built)('%s, with each single bit of the signature and of the rendezvous key flipped', async (_, build) => {
    const { message, rendezvousKey, signature } = await build();
    const decoded = decodeCanonical(v1.Message, encode(v1.Message, message));
    const codes = [
      ...everyBitTurned(signature).map((turned) => thrownCode(() => verifyIntent(decoded, rendezvousKey, turned))),
      ...everyBitTurned(rendezvousKey).map((turned) => thrownCode(() => verifyIntent(decoded, turned, signature))),
    ];
    expect(codes).toHaveLength(512 + 256);
    expect([...new Set(codes)]).toEqual(['invalid_signature']);
  });

  test('with a signature or key of another length: invalid_signature', async () => {
    const { message, rendezvousKey, signature } = await signLoginIntent(login);
    const decoded = decodeCanonical(v1.Message, encode(v1.Message, message));
    for (const cut of [new Uint8Array(), signature.subarray(1), Uint8Array.of(...signature, 0)]) {
      expect(thrownCode(() => verifyIntent(decoded, rendezvousKey, cut))).toBe('invalid_signature');
    }
    expect(thrownCode(() => verifyIntent(decoded, rendezvousKey.subarray(1), signature))).toBe('invalid_signature');
  });

  function everyBitTurned(bytes: Uint8Array): Uint8Array[] {
    return Array.from({ length: bytes.length * 8 }, (_, bit) =>
      bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
    );
  }
});

describe('the canonical form of a message (protocol 4)', () => {
  const account = field(1, field(1, bs58.decode(destination)));
  const partial = field(3, join(field(1, 'usd'), doubleField(2, 12.5)));
  const payment = (...parts: Uint8Array[]): Uint8Array => field(5, join(...parts));

  test('is accepted when it is encoded by hand', () => {
    expect(receiveSigned(payment(account, partial))).toMatchObject({ money: { hundredths: 1250n }, destination });
  });

  test.each<[string, Uint8Array]>([
    ['an unknown field behind', join(payment(account, partial), varintField(20, 1n))],
    ['an unknown field in front', join(varintField(20, 1n), payment(account, partial))],
    ['an unknown field inside', payment(account, partial, field(9, 'x'))],
    ['fields in another order', payment(partial, account)],
    ['a field that is there twice', payment(account, account, partial)],
    ['a message in two parts', join(payment(account), payment(partial))],
    ['both members of the oneof', payment(account, field(2, field(1, 'kin')), partial)],
    ['a default that is written out in a login without a verifier', payment(account, partial, field(4, field(1, '')))],
    [
      'a length of more bytes than it takes',
      join(
        Uint8Array.of(0x2a, 0x80 | (payment(account, partial).length - 2), 0),
        payment(account, partial).subarray(2),
      ),
    ],
  ])('is violated by %s, which is rejected although it is signed', (_, bytes) => {
    expect(thrownCode(() => receiveSigned(bytes))).toBe('malformed_message');
  });

  test('is violated by quarks beyond 64 bits, which a decoder would truncate', () => {
    const quarks = Uint8Array.of(0x20, 0xa0, 0x8d, 0x86, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02);
    const exact = field(2, join(field(1, 'kin'), doubleField(2, 1), doubleField(3, 1), quarks));
    expect(thrownCode(() => receiveSigned(payment(account, exact)))).toBe('malformed_message');
  });
});

type Receive = v1.RequestToReceiveBill.$Properties;

const plain: Receive = {
  requestorAccount: { value: bs58.decode(destination) },
  partial: { currency: 'usd', nativeAmount: 12.5 },
  rendezvousKey: { value: rendezvous.publicKey },
};
const exactly = (change: Partial<v1.ExchangeData.$Properties>): Receive => ({
  ...plain,
  partial: null,
  exact: { currency: 'kin', exchangeRate: 1, nativeAmount: 2, quarks: toUint64(200_000n), ...change },
});
const signMessage = (message: v1.Message.$Properties): IntentRequest => receiveSigned(encode(v1.Message, message));
const codeOfPayment = (request: Receive): string => thrownCode(() => signMessage({ requestToReceiveBill: request }));

describe('a correctly signed payment (interface 2.4, 8; protocol 6)', () => {
  test('is accepted with valid terms', () => {
    expect(codeOfPayment(plain)).toBe('nothing was thrown');
    expect(codeOfPayment(exactly({}))).toBe('nothing was thrown');
    expect(codeOfPayment(exactly({ currency: 'usd' }))).toBe('nothing was thrown');
  });

  test.each<[string, Receive, string]>([
    ['partial for kin', { ...plain, partial: { currency: 'kin', nativeAmount: 2 } }, 'malformed_message'],
    ['neither exact nor partial', { ...plain, partial: null }, 'malformed_message'],
    ['a rate of 2', exactly({ exchangeRate: 2 }), 'invalid_amount'],
    ['a rate of 2 for usd', exactly({ currency: 'usd', exchangeRate: 2 }), 'invalid_amount'],
    ['a rate of 0', exactly({ currency: 'usd', exchangeRate: 0 }), 'invalid_amount'],
    ['a quark too many', exactly({ quarks: toUint64(200_001n) }), 'invalid_amount'],
    ['no quarks', exactly({ currency: 'usd', quarks: toUint64(0n) }), 'invalid_amount'],
    ['quarks of 2^64 - 1', exactly({ quarks: toUint64(2n ** 64n - 1n) }), 'invalid_amount'],
    ['quarks of 2^53 more', exactly({ quarks: toUint64(200_000n + 2n ** 53n) }), 'invalid_amount'],
    ['0.04 usd', { ...plain, partial: { currency: 'usd', nativeAmount: 0.04 } }, 'amount_too_small'],
    ['0.1 + 0.2', { ...plain, partial: { currency: 'usd', nativeAmount: 0.1 + 0.2 } }, 'invalid_amount'],
    ['NaN', { ...plain, partial: { currency: 'usd', nativeAmount: Number.NaN } }, 'invalid_amount'],
    ['more than the maximum', { ...plain, partial: { currency: 'usd', nativeAmount: 2 ** 46 } }, 'amount_too_large'],
    ['a currency in upper case', { ...plain, partial: { currency: 'USD', nativeAmount: 1 } }, 'unknown_currency'],
    ['no account', { ...plain, requestorAccount: null }, 'malformed_message'],
    ['an account of 31 bytes', { ...plain, requestorAccount: { value: new Uint8Array(31) } }, 'malformed_message'],
    ['another rendezvous', { ...plain, rendezvousKey: { value: new Uint8Array(32).fill(1) } }, 'malformed_message'],
  ])('with %s is rejected', (_, request, code) => {
    expect(codeOfPayment(request)).toBe(code);
  });

  test.each(['usd', 'kin'])('of the largest amount in %s is accepted to the last hundredth', async (currency) => {
    const intent = await signPaymentIntent({ amount: '70368744177663.99', currency, destination });
    expect(receiveIntent(intent)).toMatchObject({ money: { hundredths: 7_036_874_417_766_399n } });
  });
});

describe('a login that its rendezvous signed correctly (interface 2.5, 4.6, 5.3)', () => {
  type Login = v1.RequestToLogin.$Properties;
  interface Case {
    /** Changes before the verifier signs. */
    readonly before?: Login;
    readonly signer?: typeof verifier;
    /** Changes after it has signed. */
    readonly after?: Login;
  }

  const accountOf = (key: string): v1.ChainAccountId.$Properties => ({ value: bs58.decode(key) });
  const base = {
    domain: { domain: 'example.com' },
    verifier: accountOf(verifier.publicKey),
    rendezvousKey: { value: rendezvous.publicKey },
  };
  const signedLogin = ({ before, signer = verifier, after }: Case): Login => {
    const request = { ...base, ...before };
    const value = signer.sign(encode(v1.RequestToLogin, request)) as Uint8Array;
    return { ...request, signature: { value }, ...after };
  };
  const signedPayment = ({ before, signer = verifier, after }: Case): Receive => {
    const request = { ...plain, ...base, ...before };
    const value = signer.sign(encode(v1.RequestToReceiveBill, request)) as Uint8Array;
    return { ...request, signature: { value }, ...after };
  };
  const codeOfLogin = (request: Login): string => thrownCode(() => signMessage({ requestToLogin: request }));

  test('is accepted with a valid verifier', () => {
    expect(codeOfLogin(signedLogin({}))).toBe('nothing was thrown');
    expect(codeOfPayment(signedPayment({}))).toBe('nothing was thrown');
  });

  test.each<[string, Case, string]>([
    ['the signature of another key', { signer: stranger }, 'invalid_signature'],
    ['another verifier named', { after: { verifier: accountOf(stranger.publicKey) } }, 'invalid_signature'],
    ['another domain named', { after: { domain: { domain: 'example.org' } } }, 'invalid_signature'],
    ['no signature', { after: { signature: null } }, 'invalid_signature'],
    ['no verifier', { before: { verifier: null } }, 'malformed_message'],
    ['no rendezvous', { before: { rendezvousKey: null } }, 'malformed_message'],
    ['another rendezvous', { before: { rendezvousKey: accountOf(destination) } }, 'malformed_message'],
    ['no domain', { before: { domain: null } }, 'invalid_domain'],
    ['a subdomain', { before: { domain: { domain: 'www.example.com' } } }, 'invalid_domain'],
    ['localhost', { before: { domain: { domain: 'localhost' } } }, 'invalid_domain'],
  ])('with %s is rejected, also in a payment with login', (_, change, code) => {
    expect(codeOfLogin(signedLogin(change))).toBe(code);
    expect(codeOfPayment(signedPayment(change))).toBe(code);
  });

  test('in a payment whose amount was changed after signing is invalid_signature', () => {
    const partial = { currency: 'usd', nativeAmount: 1 };
    expect(codeOfPayment({ ...signedPayment({}), partial })).toBe('invalid_signature');
  });

  test.each<[string, Receive]>([
    ['domain', { ...plain, domain: base.domain }],
    ['verifier', { ...plain, verifier: base.verifier }],
    ['signature', { ...plain, signature: { value: new Uint8Array(64) } }],
  ])('with only its %s in a payment is rejected: fields 4 to 7 are all set or none', (_, request) => {
    expect(codeOfPayment(request)).toMatch(/^(malformed_message|invalid_signature|invalid_domain)$/);
  });
});

describe('an intent of another kind (interface 1.3, 4.1)', () => {
  const kinds: [string, v1.Message.$Properties][] = [
    ['request_to_grab_bill', { requestToGrabBill: { requestorAccount: { value: bs58.decode(destination) } } }],
    ['code_scanned', { codeScanned: {} }],
    ['intent_submitted', { intentSubmitted: { intentId: { value: rendezvous.publicKey } } }],
    ['no kind', {}],
  ];

  test.each(kinds)('with %s is not_supported', (_, message) => {
    expect(thrownCode(() => signMessage(message))).toBe('not_supported');
  });
});

describe('whether a payload and a request agree (protocol 6)', () => {
  const nonce = new Uint8Array(11);
  const payload = (currency: string, hundredths: bigint): Payload => ({
    kind: 'payment',
    money: { currency, hundredths },
    nonce,
  });
  const request = (currency: string, hundredths: bigint): IntentRequest => ({
    kind: 'payment',
    money: { currency, hundredths },
    rate: undefined,
    destination,
    login: undefined,
  });
  const loginPayload: Payload = { kind: 'login', nonce };
  const loginRequest: IntentRequest = { kind: 'login', login: statedLogin };

  test.each<[string, Payload, IntentRequest, boolean]>([
    ['the same payment', payload('usd', 5n), request('usd', 5n), true],
    [
      'the same payment with a login',
      payload('usd', 5n),
      { ...request('usd', 5n), login: statedLogin } as IntentRequest,
      true,
    ],
    ['a login and a login', loginPayload, loginRequest, true],
    ['another amount', payload('usd', 5n), request('usd', 6n), false],
    ['another currency', payload('usd', 5n), request('eur', 5n), false],
    ['another amount with the same double', payload('usd', 2n ** 55n), request('usd', 2n ** 55n + 1n), false],
  ])('with %s', (_, scanned, found, expected) => {
    expect(matchesRequest(scanned, found)).toBe(expected);
  });
});
