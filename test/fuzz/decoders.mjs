// All decoders of the build for bytes and texts from outside, with valid examples.
import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { createWebhookVerifier } from '../../build/http/webhook/verify-webhook.js';
import {
  decodePayload,
  formatClientSecret,
  parseClientSecret,
  rendezvousKeyPair,
} from '../../build/intents/payload.js';
import { decodeCanonical, verifyIntent } from '../../build/intents/verify-intent.js';
import { formatBase58, parseAccount, parseIntentId } from '../../build/keys/base58.js';
import { keyPairFromSeed } from '../../build/keys/ed25519.js';
import { parseVerifierDomain } from '../../build/keys/verifier-domain.js';
import { signerFromSeed } from '../../build/keys/verifier-key.js';
import { createIntent, getStatus, getUserId, registerWebhook } from '../../build/sequencer/calls.js';
import { parseRetryAfter } from '../../build/sequencer/http/http-call.js';
import { eventOf } from '../../build/sequencer/watch/message-stream.js';
import { startSimulator } from '../../build/simulator/index.js';
import { decode, encode, v1 } from '../../build/wire/codec.js';
import { encodeErrorResponse, encodeOkResponse, openResponse, operations } from '../../build/wire/envelope.js';
import { simulator as simulatorMessages, submitPayment } from '../../build/wire/simulator-codec.js';

const key = (fill) => ({ value: new Uint8Array(32).fill(fill) });
const signature = { value: new Uint8Array(64).fill(9) };
// No random values: the same seed must create the same inputs.
const servicePair = keyPairFromSeed(key(8).value);
const webhookPublicKey = formatBase58(servicePair.publicKey);
const intent = signedIntent(Buffer.from('028ce204000000000001080f161d242b32394047', 'hex'));
const timestamp = { seconds: 1_700_000_000, nanos: 5 };

/** A payment of 12.50 usd. */
function signedIntent(payload) {
  const pair = rendezvousKeyPair(payload);
  const rendezvousKey = pair.publicKey;
  const partial = { currency: 'usd', nativeAmount: 12.5 };
  const message = {
    requestToReceiveBill: { requestorAccount: key(3), partial, rendezvousKey: { value: rendezvousKey } },
  };
  const signedBytes = encode(v1.Message, message);
  return {
    id: formatBase58(rendezvousKey),
    clientSecret: formatClientSecret(payload),
    message,
    rendezvousKey,
    signedBytes,
    signature: pair.sign(signedBytes),
  };
}

/** @returns examples of messages, and of texts */
export async function examples() {
  const signed = { ...intent.message, sendMessageRequestSignature: { value: intent.signature } };
  const login = { domain: { domain: 'shop.example' }, verifier: key(1), signature, rendezvousKey: key(2) };
  const sending = {
    message: intent.message,
    rendezvousKey: { value: intent.rendezvousKey },
    signature: { value: intent.signature },
  };
  const messages = [
    encode(v1.Message, signed),
    encode(v1.Message, { requestToLogin: login, sendMessageRequestSignature: signature }),
    encode(v1.Message, { id: { value: new Uint8Array(16) }, codeScanned: { timestamp } }),
    encode(v1.Message, { id: { value: new Uint8Array(16) }, intentSubmitted: { intentId: key(2) } }),
    encode(v1.GetStatusRequest, { intentId: key(2) }),
    encode(v1.GetStatusResponse, { exists: true, codeScanned: true, intentSubmitted: true }),
    encode(v1.SendMessageResponse, { messageId: { value: new Uint8Array(16) } }),
    encode(v1.RegisterWebhookRequest, { intentId: key(2), url: 'http://127.0.0.1:1/x' }),
    encode(v1.GetLoginForThirdPartyAppRequest, { intentId: key(2), verifier: key(1), signature }),
    encode(v1.GetLoginForThirdPartyAppResponse, { userId: key(4) }),
    encode(v1.LoginToThirdPartyAppRequest, { intentId: key(2), userId: key(4), signature }),
    encode(v1.PollMessagesResponse, { messages: [signed, { codeScanned: { timestamp } }] }),
    encode(v1.SendMessageRequest, sending),
    encode(simulatorMessages.SubmitPaymentRequest, { intentId: key(2), payer: key(4), signature }),
    Buffer.from('028c0500000000000001080f161d242b32394047', 'hex'),
    Buffer.from('030000000000000000050c131a21282f363d444b', 'hex'),
  ];
  const envelopes = [
    ...messages.slice(0, 8).map(encodeOkResponse),
    encodeErrorResponse('No, because of a reason.'),
    encode(v1.Request, { service: 'Intents', method: 'createIntent', body: messages[0] }),
  ];
  return { bytes: [...messages, ...envelopes], texts: await exampleTexts() };
}

async function exampleTexts() {
  const { id, clientSecret } = intent;
  const claims = { intent: id, state: 'SUBMITTED', amount: 5 };
  const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(servicePrivateKey());
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${jwt.split('.')[1]}.`;
  const dates = ['120', 'Sun, 06 Nov 1994 08:49:37 GMT'];
  return [
    id,
    clientSecret,
    jwt,
    none,
    ...dates,
    'example.com',
    'xn--mnchen-3ya.de',
    '1'.repeat(32),
    formatBase58(key(3).value),
  ];
}

function servicePrivateKey() {
  const base64url = (value) => Buffer.from(value).toString('base64url');
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: base64url(key(8).value), x: base64url(servicePair.publicKey) };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Each decodes bytes, or a text with `text`. It returns, or throws only an IntentError. */
export async function decoders() {
  const simulator = await startSimulator();
  const all = Object.values({ ...operations, submitPayment });
  const answering = (bytes) => ({ call: async () => bytes, close: async () => undefined });
  const id = formatBase58(key(2).value);
  const verifier = signerFromSeed(key(7).value);
  const verifyWebhook = createWebhookVerifier({ webhookPublicKeys: async () => [webhookPublicKey], now: () => 0 });
  return {
    decoders: [
      ...codecsOf(v1).map(([name, codec]) => bytes(`decode ${name}`, (input) => decode(codec, input))),
      ...codecsOf(simulatorMessages).map(([name, codec]) => bytes(`decode ${name}`, (input) => decode(codec, input))),
      bytes('openResponse', openResponse),
      bytes('decodeCanonical', (input) => decodeCanonical(v1.Message, input)),
      bytes('verifyIntent', (input) => {
        const message = decodeCanonical(v1.Message, input);
        verifyIntent(message, intent.rendezvousKey, message.sendMessageRequestSignature?.value ?? new Uint8Array());
      }),
      bytes('eventOf', (input) => eventOf(decode(v1.Message, input), intent.rendezvousKey)),
      bytes('decodePayload', decodePayload),
      bytes('the answer to createIntent', (input) =>
        createIntent(answering(input), { dialect: 'intents', timeoutMs: 1 }, intent),
      ),
      bytes('the answer to sendMessage', (input) =>
        createIntent(answering(input), { dialect: 'messaging', timeoutMs: 1 }, intent),
      ),
      bytes('the answer to getStatus', (input) => getStatus(answering(input), id)),
      // Signing a request costs as much as a hundred responses, so only some inputs use it.
      bytes('the answer to getUserId', (input) => getUserId(answering(input), id, verifier), 50),
      bytes('the answer to registerWebhook', (input) => registerWebhook(answering(input), id, 'https://a.example/')),
      ...all.map((operation) =>
        bytes(`the simulator's ${operation.method}`, (input) => ask(simulator, operation, input), 5),
      ),
      text('parseClientSecret', (input) => decodePayload(parseClientSecret(input))),
      text('parseIntentId', parseIntentId),
      text('parseAccount', parseAccount),
      text('parseVerifierDomain', parseVerifierDomain),
      text('parseRetryAfter', (input) => parseRetryAfter(input, 0)),
      text('a webhook JWT', verifyWebhook, 5),
    ],
    close: () => simulator.close(),
  };
}

const bytes = (name, run, everyNth = 1) => ({ name, run, everyNth, takes: 'bytes' });
const text = (name, run, everyNth = 1) => ({ name, run, everyNth, takes: 'texts' });

const codecsOf = (namespace) =>
  Object.entries(namespace).filter(([, codec]) => typeof codec === 'function' && typeof codec.decode === 'function');

/** The response of the simulator to an unexpected error, which is a fault here. */
async function ask(simulator, operation, body) {
  try {
    await simulator.transport.call(operation, body);
  } catch (error) {
    if (error.serviceMessage?.startsWith('The simulator failed.')) throw new Error(`${operation.method} met an error.`);
    throw error;
  }
}
