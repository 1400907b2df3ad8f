import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import type { SignedIntent } from '../../../src/intents/signed-intent.js';
import { parseIntentId } from '../../../src/keys/base58.js';
import type { KeyPair } from '../../../src/keys/ed25519.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import {
  anyRendezvous,
  call,
  closeAll,
  created,
  keyPair,
  kindsOf,
  login,
  opened,
  payment,
  poll,
  pollBody,
  reason,
  sendBody,
  signedBy,
  start,
  statusFlags,
  submitAs,
} from '../fixture.js';

afterEach(closeAll);

const keysOf = (intent: SignedIntent): KeyPair => rendezvousKeyPair(parseClientSecret(intent.clientSecret));

const hint = (url: string, rendezvous: KeyPair, message: v1.Message.$Properties): Promise<v1.Response> =>
  call(url, operations.sendMessage, sendBody(signedBy(rendezvous, message)));

const scanned = { codeScanned: { timestamp: { seconds: 1 } } };

async function acknowledge(url: string, rendezvous: KeyPair, messages: v1.Message[]): Promise<void> {
  const messageIds = messages.map(({ id }) => ({ value: id?.value ?? new Uint8Array() }));
  const body = encode(v1.AckMessagesRequest, { rendezvousKey: { value: rendezvous.publicKey }, messageIds });
  const answer = opened(await call(url, operations.ackMessages, body));
  expect(decode(v1.AckMessagesResponse, answer).result).toBe(v1.AckMessagesResponse.Result.OK);
}

describe("a wallet's messages (protocol 2)", () => {
  test('code_scanned sets the status and stays at the rendezvous (interface 2.6)', async () => {
    const { url } = await start();
    const intent = await created(url, payment());
    const answer = opened(await hint(url, keysOf(intent), scanned));
    const { messageId } = decode(v1.SendMessageResponse, answer);
    expect(messageId?.value).toHaveLength(16);
    expect(await statusFlags(url, intent.id)).toEqual([true, true, false]);
    const messages = await poll(url, keysOf(intent));
    expect(kindsOf(messages)).toEqual(['requestToReceiveBill', 'codeScanned']);
    expect(messages[1]?.id).toEqual(messageId);
    expect(messages[1]?.sendMessageRequestSignature?.value).toHaveLength(64);
  });

  test('a declined payment can still be paid', async () => {
    const { url } = await start();
    const intent = await created(url, payment());
    opened(await hint(url, keysOf(intent), { clientRejectedPayment: { intentId: { value: intent.rendezvousKey } } }));
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
    opened(await submitAs(url, intent.id, keyPair(1)));
    expect(await statusFlags(url, intent.id)).toEqual([true, false, true]);
  });

  test.each<[string, () => Promise<SignedIntent>, (id: Uint8Array) => v1.Message.$Properties, RegExp]>([
    ['a rejected payment of another intent', payment, () => ({ clientRejectedPayment: {} }), /names another intent/],
    [
      'a rejected payment of a login',
      login,
      (value) => ({ clientRejectedPayment: { intentId: { value } } }),
      /cannot send/,
    ],
    ['intent_submitted', payment, (value) => ({ intentSubmitted: { intentId: { value } } }), /cannot send/],
    ['an id of its own', payment, () => ({ ...scanned, id: { value: new Uint8Array(16) } }), /assigns message ids/],
  ])('refuses %s', async (_name, make, messageOf, expected) => {
    const { url } = await start();
    const intent = await created(url, make());
    expect(reason(await hint(url, keysOf(intent), messageOf(parseIntentId(intent.id))))).toMatch(expected);
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
    expect(await poll(url, keysOf(intent))).toHaveLength(1);
  });

  test('refuses a message signed by another key', async () => {
    const { url } = await start();
    const intent = await created(url, payment());
    const forged = { ...signedBy(anyRendezvous(), scanned), rendezvousKey: intent.rendezvousKey };
    expect(reason(await call(url, operations.sendMessage, sendBody(forged)))).toMatch(/not signed/);
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
  });
});

describe('the mailbox (protocol 5)', () => {
  test('pollMessages returns messages until they are acknowledged; the request stays', async () => {
    const { url } = await start();
    const intent = await created(url, payment());
    const rendezvous = keysOf(intent);
    opened(await hint(url, rendezvous, scanned));
    opened(await submitAs(url, intent.id, keyPair(1)));
    const messages = await poll(url, rendezvous);
    expect(kindsOf(messages)).toEqual(['requestToReceiveBill', 'codeScanned', 'intentSubmitted']);
    expect(messages[2]?.intentSubmitted?.intentId?.value).toEqual(Buffer.from(intent.rendezvousKey));
    expect(messages[2]?.sendMessageRequestSignature).toBeFalsy();
    await acknowledge(url, rendezvous, messages.slice(0, 2));
    expect(kindsOf(await poll(url, rendezvous))).toEqual(['requestToReceiveBill', 'intentSubmitted']);
    await acknowledge(url, rendezvous, messages);
    await acknowledge(url, rendezvous, messages);
    expect(kindsOf(await poll(url, rendezvous))).toEqual(['requestToReceiveBill']);
  });

  test('pollMessages requires a canonical request signed by the rendezvous key (protocol 4)', async () => {
    const { url } = await start();
    const rendezvous = keysOf(await created(url, payment()));
    const unsigned = encode(v1.PollMessagesRequest, { rendezvousKey: { value: rendezvous.publicKey } });
    expect(reason(await call(url, operations.pollMessages, unsigned))).toMatch(/not signed by the key it names/);
    const appended = Buffer.concat([pollBody(rendezvous), Uint8Array.of(0xa0, 0x06, 0x01)]);
    expect(reason(await call(url, operations.pollMessages, appended))).toMatch(/unknown fields/);
  });
});
