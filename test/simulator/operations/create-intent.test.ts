import { readFileSync } from 'node:fs';
import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import { bytesToSign, type SignedIntent } from '../../../src/intents/signed-intent.js';
import { parseAccount, parseBase58 } from '../../../src/keys/base58.js';
import type { KeyPair } from '../../../src/keys/ed25519.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import {
  anyRendezvous,
  call,
  closeAll,
  create,
  createBody,
  destination,
  keyPair,
  login,
  loginTerms,
  opened,
  payment,
  poll,
  reason,
  sendBody,
  serve,
  serveKeyFile,
  signedBy,
  start,
  statusFlags,
} from '../fixture.js';

afterEach(closeAll);

const account = { value: parseAccount(destination) };
const known = JSON.parse(readFileSync(new URL('../../vectors/vectors.json', import.meta.url), 'utf8'));
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

const keysOf = (intent: SignedIntent): KeyPair => rendezvousKeyPair(parseClientSecret(intent.clientSecret));

/** A signed payment request with any content and its own rendezvous. */
function anyPayment(request: v1.RequestToReceiveBill.$Properties): Pick<SignedIntent, 'message' | 'signature'> {
  const rendezvous = anyRendezvous();
  const named = { rendezvousKey: { value: rendezvous.publicKey }, ...request };
  return signedBy(rendezvous, { requestToReceiveBill: named });
}

/** A login for any domain and verifier, signed by both keys. */
function anyLogin(domain: string, by: KeyPair = keyPair(7)): Pick<SignedIntent, 'message' | 'signature'> {
  const rendezvous = anyRendezvous();
  const unsigned = {
    domain: { domain },
    verifier: { value: by.publicKey },
    rendezvousKey: { value: rendezvous.publicKey },
  };
  const signature = { value: by.sign(bytesToSign(v1.RequestToLogin, unsigned)) };
  return signedBy(rendezvous, { requestToLogin: { ...unsigned, signature } });
}

const send = (url: string, intent: Parameters<typeof sendBody>[0]): Promise<v1.Response> =>
  call(url, operations.sendMessage, sendBody(intent));

describe('Intents.createIntent (interface 4.3)', () => {
  test.each([
    ['payment', () => payment()],
    ['login', () => login()],
    ['payment with login', () => payment({ login: loginTerms })],
  ])('answers OK with the status: %s', async (_name, make) => {
    const { url } = await start();
    const intent = await make();
    const answer = opened(await create(url, intent));
    expect(Buffer.from(answer).toString('hex')).toBe('0801');
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
  });

  test('refuses a message that does not name its rendezvous key (protocol 5)', async () => {
    const { url } = await start();
    expect(reason(await create(url, await payment({}, false)))).toMatch(/must name its rendezvous key/);
  });
});

describe('Messaging.sendMessage creates an intent (protocol 5)', () => {
  test.each([
    ['payment that does not name its rendezvous', () => payment({}, false)],
    ['login', () => login()],
    ['payment with login', () => payment({ login: loginTerms }, false)],
  ])('%s', async (_name, make) => {
    const { url } = await start();
    const intent = await make();
    const answer = decode(v1.SendMessageResponse, opened(await send(url, intent)));
    expect(answer.result).toBe(v1.SendMessageResponse.Result.OK);
    expect(answer.messageId?.value).toHaveLength(16);
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
  });

  test.each(['payment', 'login'] as const)('accepts the test vector: %s (protocol 7)', async (kind) => {
    const { url } = await start({ localDomains: { 'example.com': await serveKeyFile([known.login.verifier]) } });
    const intent = {
      message: decode(v1.Message, fromHex(known[kind].message)),
      signedBytes: fromHex(known[kind].message),
      signature: fromHex(known[kind].signature),
      rendezvousKey: parseBase58(known[kind].id, 32, 'invalid_id'),
    };
    opened(await send(url, intent));
    expect(await statusFlags(url, known[kind].id)).toEqual([true, false, false]);
  });

  test('refuses a message that names another rendezvous', async () => {
    const { url } = await start();
    const { message } = await payment();
    expect(reason(await send(url, signedBy(anyRendezvous(), message)))).toMatch(
      /rendezvous key in the message is not the key/,
    );
  });
});

describe('verification of an intent (protocol 6)', () => {
  const usd = { partial: { currency: 'usd', nativeAmount: 1 } };
  const refusedPayments: [string, v1.RequestToReceiveBill.$Properties, RegExp][] = [
    ['an account of 31 bytes', { requestorAccount: { value: new Uint8Array(31) }, ...usd }, /32 bytes/],
    ['under the minimum', amount('usd', 0.04), /minimum is 0.05 usd/],
    ['over the maximum', amount('usd', 2 ** 46), /exceeds the maximum/],
    ['neither exact nor partial', { requestorAccount: account }, /Exactly one of exact and partial/],
    [
      'quarks that are not the amount at the rate',
      { requestorAccount: account, exact: { ...exact('usd', 100_000), exchangeRate: 1.01 } },
      /does not match the amount/,
    ],
    [
      'another exchange rate',
      { requestorAccount: account, exact: { ...exact('kin', 100_000), exchangeRate: 2 } },
      /does not match the amount/,
    ],
  ];

  test.each(refusedPayments)('refuses a payment: %s (interface 2.4, 8)', async (_name, request, expected) => {
    const { url } = await start();
    expect(reason(await create(url, anyPayment(request)))).toMatch(expected);
  });

  test('refuses a signature by another key (interface 5.2)', async () => {
    const { url } = await start();
    const { message } = await payment();
    const signature = anyRendezvous().sign(encode(v1.Message, message));
    expect(reason(await create(url, { message, signature }))).toMatch(/not signed by its rendezvous key/);
  });

  test('refuses a message that was changed after signing', async () => {
    const { url } = await start();
    const intent = await payment();
    const bill = { ...intent.message.requestToReceiveBill, partial: { currency: 'usd', nativeAmount: 1 } };
    expect(reason(await create(url, { ...intent, message: { requestToReceiveBill: bill } }))).toMatch(/not signed/);
    expect(await statusFlags(url, intent.id)).toEqual([false, false, false]);
  });

  test('refuses unknown fields, outside and inside of submessages (protocol 4)', async () => {
    const { url } = await start();
    const intent = await payment();
    const appended = Buffer.concat([createBody(intent), Uint8Array.of(0xa0, 0x06, 0x01)]);
    expect(reason(await call(url, operations.createIntent, appended))).toMatch(/unknown fields/);
    const sent = Buffer.concat([sendBody(intent), Uint8Array.of(0xa0, 0x06, 0x01)]);
    expect(reason(await call(url, operations.sendMessage, sent))).toMatch(/unknown fields/);
  });

  test('refuses fields in another order, although they are signed (protocol 4)', async () => {
    const { url } = await start();
    const rendezvous = anyRendezvous();
    const key = encode(v1.RequestToReceiveBill, { rendezvousKey: { value: rendezvous.publicKey } });
    const bill = Buffer.concat([key, encode(v1.RequestToReceiveBill, { requestorAccount: account, ...usd })]);
    const message = Buffer.concat([Uint8Array.of(0x2a, bill.length), bill]);
    expect(reason(await createBytes(url, message, rendezvous.sign(message)))).toMatch(/canonical/);
  });

  test('a retry is answered OK and changes nothing, in both dialects', async () => {
    const { url } = await start();
    const intent = await login();
    const first = opened(await create(url, intent));
    const [message] = await poll(url, keysOf(intent));
    expect(opened(await create(url, intent))).toEqual(first);
    const sent = decode(v1.SendMessageResponse, opened(await send(url, intent)));
    expect(sent.messageId).toEqual(message?.id);
    expect(await poll(url, keysOf(intent))).toEqual([message]);
  });

  test('refuses other details at an existing rendezvous', async () => {
    const { url } = await start();
    const intent = await payment();
    const bill = { ...intent.message.requestToReceiveBill, requestorAccount: { value: new Uint8Array(32).fill(9) } };
    const other = signedBy(keysOf(intent), { requestToReceiveBill: bill });
    opened(await create(url, intent));
    expect(reason(await create(url, other))).toMatch(/already exists with different content/);
    expect(reason(await send(url, other))).toMatch(/already exists with different content/);
  });

  test('of two concurrent logins at one rendezvous, one is stored', async () => {
    const { url } = await start();
    const rendezvous = anyRendezvous();
    const at = (request: v1.RequestToReceiveBill.$Properties) => {
      const unsigned = {
        ...request,
        ...usd,
        domain: { domain: 'example.com' },
        verifier: { value: keyPair(7).publicKey },
        rendezvousKey: { value: rendezvous.publicKey },
      };
      const signature = { value: keyPair(7).sign(bytesToSign(v1.RequestToReceiveBill, unsigned)) };
      return create(url, signedBy(rendezvous, { requestToReceiveBill: { ...unsigned, signature } }));
    };
    const answers = await Promise.all([
      at({ requestorAccount: account }),
      at({ requestorAccount: { value: new Uint8Array(32).fill(9) } }),
    ]);
    expect(answers.map(({ result }) => result).sort()).toEqual([0, 1]);
  });
});

describe('verification of a login (protocol 6, interface 5.3)', () => {
  test.each(['www.example.com', 'localhost', '127.0.0.1', 'example.com/x', 'com'])(
    'refuses a domain that is not a bare registrable name: "%s"',
    async (domain) => {
      const { url } = await start();
      expect(reason(await create(url, anyLogin(domain)))).toMatch(/name|Subdomains/);
    },
  );

  test('refuses a signature by another verifier', async () => {
    const { url } = await start();
    const rendezvous = anyRendezvous();
    const { requestToLogin } = anyLogin('example.com').message;
    const moved = { ...requestToLogin, rendezvousKey: { value: rendezvous.publicKey } };
    expect(reason(await create(url, signedBy(rendezvous, { requestToLogin: moved })))).toMatch(
      /not signed by its verifier/,
    );
  });

  test.each<[string, Parameters<typeof serve>[0], RegExp]>([
    ['is missing', (_req, res) => void res.writeHead(404).end(), /status 404/],
    ['is too large', (_req, res) => void res.end(' '.repeat(8_193)), /more than 8192 bytes/],
    ['is no JSON', (_req, res) => void res.end('<html>'), /not a JSON object/],
  ])('the key file %s (interface 2.7, 4.6)', async (_name, listener, expected) => {
    const { url } = await start({ localDomains: { 'example.com': await serve(listener) } });
    expect(reason(await create(url, await login()))).toMatch(expected);
  });

  test('setLocalDomain refuses an origin that is not on this machine', async () => {
    const simulator = await start();
    const refused = expect.objectContaining({ code: 'invalid_configuration' });
    for (const origin of ['http://192.168.0.1', 'nonsense', 'file:///etc']) {
      expect(() => simulator.setLocalDomain('example.com', origin)).toThrow(refused);
    }
    expect(() => simulator.setLocalDomain('www.example.com', 'http://localhost:1')).toThrow(
      expect.objectContaining({ code: 'invalid_domain' }),
    );
  });
});

function createBytes(url: string, message: Uint8Array, signature: Uint8Array): Promise<v1.Response> {
  const field3 = encode(v1.Message, { sendMessageRequestSignature: { value: signature } });
  return call(url, operations.createIntent, Buffer.concat([field3, message]));
}

function amount(currency: string, nativeAmount: number): v1.RequestToReceiveBill.$Properties {
  return { requestorAccount: account, partial: { currency, nativeAmount } };
}

function exact(currency: string, quarks: number): v1.ExchangeData.$Properties {
  return { currency, exchangeRate: 1, nativeAmount: 1, quarks };
}
