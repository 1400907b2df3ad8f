import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rendezvousKeyPair } from '../../src/intents/payload.js';
import {
  bytesToSign,
  type PaymentTerms,
  type SignedIntent,
  signLoginIntent,
  signPaymentIntent,
} from '../../src/intents/signed-intent.js';
import { parseIntentId } from '../../src/keys/base58.js';
import { type KeyPair, keyPairFromSeed } from '../../src/keys/ed25519.js';
import { type Signer, signerFromSeed } from '../../src/keys/verifier-key.js';
import { type Simulator, type StartSimulatorOptions, startSimulator } from '../../src/simulator/index.js';
import { decode, encode, v1 } from '../../src/wire/codec.js';
import { encodeRequest, type Operation, operations } from '../../src/wire/envelope.js';
import { simulator, submitPayment } from '../../src/wire/simulator-codec.js';

export const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
export const verifier: Signer = signerFromSeed(new Uint8Array(32).fill(7));
export const loginTerms = { domain: 'example.com', verifier };
export const startedAtMs = 1_700_000_000_250;

const closers: (() => Promise<void>)[] = [];

/** Closes everything a test has started. */
export async function closeAll(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
}

/** Starts a server on 127.0.0.1 and returns its origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The origin of a site that publishes these verifier keys. */
export function serveKeyFile(publicKeys: readonly string[] = [verifier.publicKey]): Promise<string> {
  return serve((req, res) => {
    res.statusCode = req.url === '/.well-known/service-payments.json' ? 200 : 404;
    res.end(JSON.stringify({ public_keys: publicKeys }));
  });
}

/** A sequencer with a stopped clock and a local key file of example.com. */
export async function start(options: StartSimulatorOptions = {}): Promise<Simulator> {
  const localDomains = options.localDomains ?? { 'example.com': await serveKeyFile() };
  const simulator = await startSimulator({ now: () => startedAtMs, ...options, localDomains });
  closers.push(() => simulator.close());
  return simulator;
}

/** Posts bytes to the proxy. */
export function post(
  url: string,
  body: Uint8Array,
  contentType = 'application/octet-stream',
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/api`, { method: 'POST', headers: { ...headers, 'content-type': contentType }, body });
}

/** Calls an operation, as a page of `origin` if given, and returns its envelope, OK or ERROR. */
export async function call(url: string, operation: Operation, body: Uint8Array, origin?: string): Promise<v1.Response> {
  const response = await post(url, encodeRequest(operation, body), undefined, origin === undefined ? {} : { origin });
  expect(response.status).toBe(200);
  return decode(v1.Response, new Uint8Array(await response.arrayBuffer()));
}

/** The inner body of an OK answer. */
export function opened({ result, body, message }: v1.Response): Uint8Array {
  expect({ result, message }).toEqual({ result: v1.Response.Result.OK, message: '' });
  return body;
}

/** The reason of an ERROR answer. */
export function reason({ result, message }: v1.Response): string {
  expect(result).toBe(v1.Response.Result.ERROR);
  return message;
}

export const payment = (terms: Partial<PaymentTerms> = {}, includesRendezvousKey = true): Promise<SignedIntent> =>
  signPaymentIntent({ amount: '12.50', currency: 'usd', destination, ...terms }, { includesRendezvousKey });

export const login = (): Promise<SignedIntent> => signLoginIntent(loginTerms);

/** The bytes a site sends to create an intent, dialect `intents`. */
export function createBody({ message, signature }: Pick<SignedIntent, 'message' | 'signature'>): Uint8Array {
  return encode(v1.Message, { ...message, sendMessageRequestSignature: { value: signature } });
}

/** The bytes a site sends to create an intent, dialect `messaging`. */
export function sendBody({ message, signature, rendezvousKey }: Omit<SignedIntent, 'id' | 'clientSecret'>): Uint8Array {
  return encode(v1.SendMessageRequest, {
    message,
    rendezvousKey: { value: rendezvousKey },
    signature: { value: signature },
  });
}

export const create = (url: string, intent: Pick<SignedIntent, 'message' | 'signature'>): Promise<v1.Response> =>
  call(url, operations.createIntent, createBody(intent));

/** Creates an intent, which must be accepted. */
export async function created(url: string, intent: Promise<SignedIntent>): Promise<SignedIntent> {
  opened(await create(url, await intent));
  return intent;
}

/** A rendezvous without a payload, to sign messages that the library refuses. */
export const anyRendezvous = (): KeyPair => rendezvousKeyPair(crypto.getRandomValues(new Uint8Array(20)));

/** Signs any message with a rendezvous key. */
export function signedBy(
  rendezvous: KeyPair,
  message: v1.Message.$Properties,
): Omit<SignedIntent, 'id' | 'clientSecret'> {
  const signedBytes = encode(v1.Message, message);
  return { message, signedBytes, rendezvousKey: rendezvous.publicKey, signature: rendezvous.sign(signedBytes) };
}

export async function statusFlags(url: string, id: string): Promise<[boolean, boolean, boolean]> {
  const body = encode(v1.GetStatusRequest, { intentId: { value: parseIntentId(id) } });
  const status = decode(v1.GetStatusResponse, opened(await call(url, operations.getStatus, body)));
  return [status.exists, status.codeScanned, status.intentSubmitted];
}

export function pollBody(rendezvous: KeyPair): Uint8Array {
  const unsigned = { rendezvousKey: { value: rendezvous.publicKey } };
  const signature = { value: rendezvous.sign(bytesToSign(v1.PollMessagesRequest, unsigned)) };
  return encode(v1.PollMessagesRequest, { ...unsigned, signature });
}

export async function poll(url: string, rendezvous: KeyPair): Promise<v1.Message[]> {
  const body = opened(await call(url, operations.pollMessages, pollBody(rendezvous)));
  return decode(v1.PollMessagesResponse, body).messages.map((message) => new v1.Message(message));
}

export const kindsOf = (messages: v1.Message[]): (string | undefined)[] =>
  messages.map((message) => Object.keys(message).find((key) => !['id', 'sendMessageRequestSignature'].includes(key)));

export const keyPair = (fill: number): KeyPair => keyPairFromSeed(new Uint8Array(32).fill(fill));

export async function submitAs(url: string, id: string, payer: KeyPair, signer = payer): Promise<v1.Response> {
  const unsigned = { intentId: { value: parseIntentId(id) }, payer: { value: payer.publicKey } };
  const signature = { value: signer.sign(bytesToSign(simulator.SubmitPaymentRequest, unsigned)) };
  return call(url, submitPayment, encode(simulator.SubmitPaymentRequest, { ...unsigned, signature }));
}

export async function logInAs(url: string, id: string, user: KeyPair, signer = user): Promise<v1.Response> {
  const unsigned = { intentId: { value: parseIntentId(id) }, userId: { value: user.publicKey } };
  const signature = { value: signer.sign(bytesToSign(v1.LoginToThirdPartyAppRequest, unsigned)) };
  return call(url, operations.loginToThirdPartyApp, encode(v1.LoginToThirdPartyAppRequest, { ...unsigned, signature }));
}
