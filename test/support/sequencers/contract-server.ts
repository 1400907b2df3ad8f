import { createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

// A sequencer written from the contract with the .proto files, protobufjs and Node, and no code of src. It does the
// minimum that the contract requires: defaults are omitted, so many responses have zero bytes, and createIntent returns the
// status of the intent.

const root = new protobuf.Root();
root.loadSync(fileURLToPath(new URL('../../../proto/intents.proto', import.meta.url)), { keepCase: true });
const type = (name: string): protobuf.Type => root.lookupType(`intents.v1.${name}`);

type Fields = Record<string, unknown>;
type Value = { readonly value: Uint8Array };

const read = (name: string, bytes: Uint8Array): Fields => type(name).decode(bytes) as unknown as Fields;
/** Proto3 omits defaults, and protobufjs omits unset fields. */
const write = (name: string, fields: Fields): Uint8Array => type(name).encode(type(name).create(fields)).finish();
const key = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

interface Intent {
  code_scanned?: true;
  intent_submitted?: true;
  readonly login: { readonly verifier: Uint8Array } | undefined;
  user?: Uint8Array;
}

/** A limit of the service. */
export const maximum = 250;

export interface ContractServer {
  /** base_url. */
  readonly url: string;
  /** The versions of the received envelopes. */
  readonly versions: Set<string>;
  /** Acts as a wallet: pays, or logs a user in. */
  confirm(id: Uint8Array, user?: Uint8Array): void;
  close(): Promise<void>;
}

type Handler = (body: Uint8Array) => Uint8Array;

/** @param only its services, by default those of the contract */
export async function startContractServer(only = ['Intents', 'MicroPayment', 'Identity']): Promise<ContractServer> {
  const intents = new Map<string, Intent>();
  const versions = new Set<string>();
  const handlers: Record<string, Handler> = {
    'Intents.createIntent': (body) => createIntent(intents, body),
    'MicroPayment.getStatus': (body) => statusOf(intents.get(idIn(read('GetStatusRequest', body)))),
    'MicroPayment.registerWebhook': () => new Uint8Array(),
    'Identity.getLoginForThirdPartyApp': (body) =>
      userOf(intents.get(idIn(read('GetLoginForThirdPartyAppRequest', body)))),
  };
  const server = createServer((req, res) => {
    void answer(req, res, (service, method, body) => {
      if (!only.includes(service)) throw new Error('Invalid service name');
      const handler = handlers[`${service}.${method}`];
      if (!handler) throw new Error('Invalid method name');
      return handler(body);
    }).then((version) => versions.add(version));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    versions,
    confirm: (id, user) => {
      const intent = intents.get(key(id));
      if (!intent) throw new Error('There is no such intent.');
      intent.code_scanned = true;
      intent.intent_submitted = true;
      if (user) intent.user = user;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Call = (service: string, method: string, body: Uint8Array) => Uint8Array;

/** Handles POST /v1/api. @returns the version of the envelope */
async function answer(req: IncomingMessage, res: ServerResponse, call: Call): Promise<string> {
  if (req.method !== 'POST' || req.url !== '/v1/api') {
    res.writeHead(404).end();
    return '';
  }
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { version, service, method, body } = read('Request', Buffer.concat(chunks));
  const envelope = ((): Uint8Array => {
    try {
      const inner = call(String(service), String(method), body as Uint8Array);
      return write('Response', inner.length > 0 ? { body: inner } : {});
    } catch (error) {
      return write('Response', { result: 1, message: (error as Error).message });
    }
  })();
  res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': envelope.length }).end(envelope);
  return String(version);
}

const idIn = ({ intent_id: id }: Fields): string => key((id as Value).value);

function statusOf(intent: Intent | undefined): Uint8Array {
  if (!intent) return new Uint8Array();
  const { code_scanned, intent_submitted } = intent;
  return write('GetStatusResponse', { exists: true, code_scanned, intent_submitted });
}

function userOf(intent: Intent | undefined): Uint8Array {
  if (!intent) return write('GetLoginForThirdPartyAppResponse', { result: 1 });
  if (!intent.login) return write('GetLoginForThirdPartyAppResponse', { result: 2 });
  if (!intent.user) return write('GetLoginForThirdPartyAppResponse', { result: 3 });
  return write('GetLoginForThirdPartyAppResponse', { user_id: { value: intent.user } });
}

function createIntent(intents: Map<string, Intent>, body: Uint8Array): Uint8Array {
  const message = read('Message', body);
  const signature = (message.send_message_request_signature as Value).value;
  const request = (message.request_to_receive_bill ?? message.request_to_login) as Fields;
  const rendezvous = (request.rendezvous_key as Value).value;
  // The signature covers the canonical message without its fields 1 and 3.
  message.id = null;
  message.send_message_request_signature = null;
  requireSignature(rendezvous, type('Message').encode(message).finish(), signature);
  const login = message.request_to_login as Fields | null | undefined;
  const verifier = login && (login.verifier as Value).value;
  if (login && verifier) {
    const own = (login.signature as Value).value;
    requireSignature(
      verifier,
      type('RequestToLogin')
        .encode({ ...login, signature: null })
        .finish(),
      own,
    );
  }
  const partial = request.partial as { native_amount: number } | null | undefined;
  if (partial && partial.native_amount > maximum) throw new Error(`The maximum is ${maximum}.`);
  const id = key(rendezvous);
  const intent = intents.get(id) ?? { login: verifier ? { verifier } : undefined };
  intents.set(id, intent);
  return statusOf(intent);
}

function requireSignature(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): void {
  const x = Buffer.from(publicKey).toString('base64url');
  const imported = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  if (!verify(null, bytes, imported, signature)) throw new Error('Invalid signature');
}
