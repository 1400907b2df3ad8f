import {
  encodePayload,
  formatClientSecret,
  parseClientSecret,
  rendezvousKeyPair,
} from '../../../src/intents/payload.js';
import type { SignedIntent } from '../../../src/intents/signed-intent.js';
import { formatBase58 } from '../../../src/keys/base58.js';
import { createWallet } from '../../../src/simulator/index.js';
import { encode, v1 } from '../../../src/wire/codec.js';
import { encodeOkResponse } from '../../../src/wire/envelope.js';
import {
  closeAll,
  create,
  created,
  destination,
  kindsOf,
  login,
  loginTerms,
  opened,
  payment,
  poll,
  serve,
  signedBy,
  start,
  statusFlags,
  verifier,
} from '../fixture.js';

afterEach(closeAll);

const seed = new Uint8Array(32).fill(5);
const at = (url: string, name = 'Eve') => createWallet({ url, name, seed });
const messagesOf = async (url: string, intent: SignedIntent) =>
  kindsOf(await poll(url, rendezvousKeyPair(parseClientSecret(intent.clientSecret))));

describe('actions of a wallet', () => {
  test('scan returns the request and sends code_scanned (interface 1.5)', async () => {
    const simulator = await start();
    const intent = await created(simulator.url, payment());
    expect(await simulator.wallet().scan(intent.clientSecret)).toEqual({
      id: intent.id,
      kind: 'payment',
      amount: '12.50',
      currency: 'usd',
      destination,
    });
    expect(await statusFlags(simulator.url, intent.id)).toEqual([true, true, false]);
  });

  test('confirm pays and scans once', async () => {
    const simulator = await start();
    const intent = await created(simulator.url, payment());
    const wallet = simulator.wallet('Mia');
    await wallet.scan(intent.clientSecret);
    await wallet.confirm(intent.clientSecret);
    expect(await statusFlags(simulator.url, intent.id)).toEqual([true, true, true]);
    await wallet.confirm(intent.clientSecret);
    expect(await messagesOf(simulator.url, intent)).toEqual(['requestToReceiveBill', 'codeScanned', 'intentSubmitted']);
  });

  test('confirm logs in (interface 1.6)', async () => {
    const simulator = await start();
    const intent = await created(simulator.url, login());
    const request = await simulator.wallet().confirm(intent.clientSecret);
    const stated = { domain: 'example.com', verifier: verifier.publicKey };
    expect(request).toEqual({ id: intent.id, kind: 'login', login: stated });
    expect(await statusFlags(simulator.url, intent.id)).toEqual([true, true, true]);
    await expect(simulator.wallet('Ben').confirm(intent.clientSecret)).rejects.toMatchObject({
      code: 'sequencer_error',
      message: 'Another wallet has already logged in.',
    });
  });

  test('confirm pays and logs in', async () => {
    const simulator = await start();
    const intent = await created(simulator.url, payment({ login: loginTerms }));
    const wallet = simulator.wallet();
    const request = await wallet.pay(intent.clientSecret);
    expect(request).toMatchObject({ kind: 'payment', login: { domain: 'example.com' } });
    // A retry by the same wallet changes nothing. Another wallet is rejected.
    await wallet.pay(intent.clientSecret);
    await expect(simulator.wallet('Ben').pay(intent.clientSecret)).rejects.toThrow('Another wallet has already paid.');
  });

  test.each([
    ['payment', () => payment(), 'clientRejectedPayment'],
    ['login', () => login(), 'clientRejectedLogin'],
  ] as const)('reject declines a %s', async (_name, make, kind) => {
    const { url } = await start();
    const intent = await created(url, make());
    await at(url).decline(intent.clientSecret);
    expect((await messagesOf(url, intent)).slice(1)).toEqual(['codeScanned', kind]);
    expect(await statusFlags(url, intent.id)).toEqual([true, true, false]);
  });
});

describe('refusals of a wallet', () => {
  test.each(['nonsense', 'x'.repeat(10_000)])('an invalid code: %.20s', async (code) => {
    const { url } = await start();
    await expect(at(url).scan(code)).rejects.toMatchObject({ code: 'invalid_client_secret' });
  });

  test('refuses an unknown intent', async () => {
    const { url } = await start();
    const { clientSecret } = await payment();
    await expect(at(url).confirm(clientSecret)).rejects.toMatchObject({ code: 'intent_not_found' });
  });

  test.each<[string, Parameters<typeof encodePayload>[0]]>([
    ['amount', { kind: 'payment', money: { currency: 'usd', hundredths: 5n }, nonce: new Uint8Array(11) }],
    ['currency', { kind: 'payment', money: { currency: 'eur', hundredths: 1250n }, nonce: new Uint8Array(11) }],
    ['kind', { kind: 'login', nonce: new Uint8Array(11) }],
  ])('refuses a request of another %s than its code (protocol 6)', async (_name, payload) => {
    const { url } = await start();
    const bytes = encodePayload(payload);
    const rendezvous = rendezvousKeyPair(bytes);
    const { requestToReceiveBill } = (await payment()).message;
    const named = { ...requestToReceiveBill, rendezvousKey: { value: rendezvous.publicKey } };
    opened(await create(url, signedBy(rendezvous, { requestToReceiveBill: named })));
    const clientSecret = formatClientSecret(bytes);
    const refused = { code: 'malformed_message', message: 'The request does not match its code.' };
    await expect(at(url).scan(clientSecret)).rejects.toMatchObject(refused);
    await expect(at(url).confirm(clientSecret)).rejects.toMatchObject(refused);
    expect(await statusFlags(url, formatBase58(rendezvous.publicKey))).toEqual([true, false, false]);
  });

  test('refuses a request that the sequencer has changed', async () => {
    const intent = await payment();
    const bill = { ...intent.message.requestToReceiveBill, requestorAccount: { value: new Uint8Array(32) } };
    const message = { requestToReceiveBill: bill, sendMessageRequestSignature: { value: intent.signature } };
    const origin = await sequencerThatAnswers(
      encodeOkResponse(encode(v1.PollMessagesResponse, { messages: [message] })),
    );
    await expect(at(origin).scan(intent.clientSecret)).rejects.toMatchObject({ code: 'invalid_signature' });
  });
});

describe('the keys of a wallet (protocol 5)', () => {
  test('the user id differs by domain and wallet, and is stable', async () => {
    const [one, two] = [await start(), await start()];
    const ids = one.wallets.flatMap((wallet) => [wallet.userId('example.com'), wallet.userId('example.org')]);
    expect(new Set(ids).size).toBe(6);
    expect(two.wallets.flatMap((wallet) => [wallet.userId('example.com'), wallet.userId('example.org')])).toEqual(ids);
  });
});

test('a wallet does not follow a redirect with its signed request', async () => {
  const { clientSecret } = await created((await start()).url, payment());
  let arrived = 0;
  const elsewhere = await serve((_req, res) => {
    arrived += 1;
    res.end();
  });
  const url = await serve((req, res) => {
    req.resume();
    res.writeHead(307, { location: `${elsewhere}/v1/api` }).end();
  });
  await expect(at(url).scan(clientSecret)).rejects.toMatchObject({ code: 'sequencer_bad_status', httpStatus: 307 });
  expect(arrived).toBe(0);
});

function sequencerThatAnswers(answer: Uint8Array): Promise<string> {
  return serve((req, res) => {
    req.resume();
    res.end(answer);
  });
}
