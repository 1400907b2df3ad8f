import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import {
  type CreatedIntent,
  type CreatePaymentParameters,
  createIntentClient,
  createSigner,
  type Dialect,
  generateKeyPair,
  type IntentClient,
  type IntentClientOptions,
  type PreparedIntent,
} from '../../src/index.js';
import { ok, startFaultSequencer } from '../support/sequencers/fault-sequencer.js';
import { grpcOk, startGrpcFaultServer } from '../support/sequencers/grpc-fault-server.js';
import { fieldAt, splitFields, withoutFields } from './wire-fields.js';

/** Timeouts that no test reaches: a retry would be one more call. */
const ample = { timeoutMs: 160_000 };
const domain = 'shop.example';
const destination = generateKeyPair().publicKey;
const verifier = createSigner(generateKeyPair().secret);
const payment = { destination, amount: '0.05', currency: 'usd' };
const login = { login: { verifier: verifier.publicKey, domain }, signers: [verifier] };

// Field numbers of interface 2.3 to 2.5 and protocol 3 and 5.
const kind = { payment: 5, login: 10 };
const inPayment = { account: 1, exact: 2, partial: 3, domain: 4, verifier: 5, signature: 6, rendezvous: 7 };
const inLogin = { domain: 1, verifier: 4, signature: 5, rendezvous: 6 };

/** A service that answers every call with OK. */
interface Service {
  readonly options: IntentClientOptions;
  /** The calls: their names in the interface, and all bytes. */
  readonly calls: () => readonly { readonly operation: string; readonly body: Uint8Array; readonly sent: Uint8Array }[];
  answerWith(body: Uint8Array): void;
  close(): Promise<void>;
}

async function startProxy(): Promise<Service> {
  const proxy = await startFaultSequencer(ok());
  return {
    options: { url: proxy.url, ...ample },
    calls: () =>
      proxy.calls.map(({ service, method, body }, n) => ({
        operation: `${service}.${method}`,
        body,
        sent: proxy.requests[n]?.envelope ?? body,
      })),
    answerWith: (body) => proxy.answerWith(ok(body)),
    close: () => proxy.close(),
  };
}

async function startGrpc(): Promise<Service> {
  const server = await startGrpcFaultServer(grpcOk());
  return {
    options: { grpcUrl: server.url, ...ample },
    calls: () => server.calls.map(({ path, body }) => ({ operation: operationAt(path), body, sent: body })),
    answerWith: (body) => server.behave(grpcOk(body)),
    close: () => server.close(),
  };
}

/** `/intents.v1.MicroPayment/GetStatus` is `MicroPayment.getStatus`. */
function operationAt(path: string): string {
  const [, service, first = '', rest] = /^\/intents\.v1\.(\w+)\/(\w)(\w+)$/.exec(path) ?? [];
  return `${service}.${first.toLowerCase()}${rest}`;
}

/** The sent message, signature and rendezvous key, wherever the dialect puts them. */
interface Sent {
  readonly operation: string;
  readonly created: CreatedIntent;
  readonly message: Uint8Array;
  readonly signature: Uint8Array | undefined;
  readonly rendezvousKey: Uint8Array | undefined;
}

const numbersIn = (message: Uint8Array | undefined): number[] =>
  splitFields(message ?? new Uint8Array()).map(({ number }) => number);

/** Verifies with an implementation that did not sign. A missing field never verifies. */
function verifies(signed: Uint8Array, signature: Uint8Array | undefined, publicKey: Uint8Array | undefined): boolean {
  if (signature?.length !== 64 || publicKey?.length !== 32) return false;
  return nacl.sign.detached.verify(signed, signature, publicKey);
}

describe.each([
  ['over the proxy', startProxy],
  ['over gRPC', startGrpc],
])('%s', (_transport, start) => {
  let service: Service;

  beforeEach(async () => {
    service = await start();
  });
  afterEach(() => service.close());

  async function send(dialect: Dialect, create: (client: IntentClient) => Promise<CreatedIntent>): Promise<Sent> {
    const client = createIntentClient({ ...service.options, dialect });
    const created = await create(client);
    await client.close();
    const [call, ...more] = service.calls();
    if (!call || more.length > 0) throw new Error('Expected exactly one call.');
    const { operation, body } = call;
    if (dialect === 'intents') {
      return { operation, created, message: body, signature: fieldAt(body, 3, 1), rendezvousKey: undefined };
    }
    const message = fieldAt(body, 1) ?? new Uint8Array();
    return { operation, created, message, signature: fieldAt(body, 3, 1), rendezvousKey: fieldAt(body, 2, 1) };
  }

  describe.each<Dialect>(['intents', 'messaging'])('dialect %s', (dialect) => {
    const kinds: [string, (client: IntentClient) => Promise<CreatedIntent>][] = [
      ['payment', (client) => client.paymentIntents.create(payment)],
      ['payment with login', (client) => client.paymentIntents.create({ ...payment, ...login })],
      ['login', (client) => client.loginIntents.create(login)],
    ];

    it.each(kinds)(
      '%s: is signed by the key whose public half is the id (interface 5.2, protocol 4)',
      async (_kind, create) => {
        const { created, message, signature, operation } = await send(dialect, create);
        expect(operation).toBe(dialect === 'intents' ? 'Intents.createIntent' : 'Messaging.sendMessage');
        const signed = withoutFields(message, 1, 3);
        expect(verifies(signed, signature, bs58.decode(created.id))).toBe(true);
        const tampered = Buffer.from(signed);
        tampered[20] = (tampered[20] ?? 0) ^ 1;
        expect(verifies(tampered, signature, bs58.decode(created.id))).toBe(false);
      },
    );

    it.each(kinds)('%s: the id is derived from the client secret alone (protocol 2)', async (_kind, create) => {
      const { created } = await send(dialect, create);
      const seed = createHash('sha256').update(bs58.decode(created.clientSecret)).digest();
      expect(bs58.encode(nacl.sign.keyPair.fromSeed(seed).publicKey)).toBe(created.id);
    });

    const preparing: [string, (client: IntentClient, clientSecret?: string) => Promise<PreparedIntent>][] = [
      ['payment', (client, clientSecret) => client.paymentIntents.prepare({ ...payment, clientSecret })],
      [
        'payment with login',
        (client, clientSecret) => client.paymentIntents.prepare({ ...payment, ...login, clientSecret }),
      ],
      ['login', (client, clientSecret) => client.loginIntents.prepare({ ...login, clientSecret })],
    ];

    it.each(preparing)(
      '%s: preparing it again, also from the client secret alone, gives the same bytes',
      async (_kind, prepare) => {
        const client = createIntentClient({ ...service.options, dialect });
        const first = await prepare(client);
        await first.create();
        await first.create();
        await (await prepare(client, first.clientSecret)).create();
        await (await prepare(client)).create();
        await client.close();
        const [sent = '', again, fromSecret, another] = service
          .calls()
          .map(({ body }) => Buffer.from(body).toString('hex'));
        expect(sent.length).toBeGreaterThan(100);
        expect([again, fromSecret]).toEqual([sent, sent]);
        expect(another).not.toBe(sent);
      },
    );

    it.each(kinds)('%s: neither the secret nor its seed is sent', async (_kind, create) => {
      const { created } = await send(dialect, create);
      const payload = Buffer.from(bs58.decode(created.clientSecret));
      const sent = Buffer.from(service.calls().at(-1)?.sent ?? []);
      expect(sent.length).toBeGreaterThan(100);
      for (const secret of [payload, payload.subarray(9), createHash('sha256').update(payload).digest()]) {
        expect(sent.includes(secret)).toBe(false);
      }
      expect(sent.includes(created.clientSecret)).toBe(false);
    });

    it('login: the verifier signs the request that names the rendezvous (interface 2.5, 5.3)', async () => {
      const { created, message } = await send(dialect, (client) => client.loginIntents.create(login));
      const request = fieldAt(message, kind.login) ?? new Uint8Array();
      expect(numbersIn(request)).toEqual(Object.values(inLogin));
      expect(Buffer.from(fieldAt(request, inLogin.domain, 1) ?? []).toString()).toBe(domain);
      expect(fieldAt(request, inLogin.verifier, 1)).toEqual(bs58.decode(verifier.publicKey));
      expect(fieldAt(request, inLogin.rendezvous, 1)).toEqual(bs58.decode(created.id));
      const signature = fieldAt(request, inLogin.signature, 1);
      expect(verifies(withoutFields(request, inLogin.signature), signature, bs58.decode(verifier.publicKey))).toBe(
        true,
      );
    });

    it('payment with login: has fields 4 to 7, signed by the verifier (protocol 3, interface 5.3)', async () => {
      const { created, message } = await send(dialect, (client) =>
        client.paymentIntents.create({ ...payment, ...login }),
      );
      const request = fieldAt(message, kind.payment) ?? new Uint8Array();
      expect(numbersIn(request)).toEqual([1, 3, 4, 5, 6, 7]);
      expect(fieldAt(request, inPayment.rendezvous, 1)).toEqual(bs58.decode(created.id));
      expect(Buffer.from(fieldAt(request, inPayment.domain, 1) ?? []).toString()).toBe(domain);
      const signature = fieldAt(request, inPayment.signature, 1);
      const signed = withoutFields(request, inPayment.signature);
      expect(verifies(signed, signature, fieldAt(request, inPayment.verifier, 1))).toBe(true);
      expect(fieldAt(request, inPayment.verifier, 1)).toEqual(bs58.decode(verifier.publicKey));
    });

    it('payment: the rendezvous key is in the message with `intents` and next to it with `messaging` (protocol 5)', async () => {
      const { created, message, rendezvousKey } = await send(dialect, (client) =>
        client.paymentIntents.create(payment),
      );
      const request = fieldAt(message, kind.payment) ?? new Uint8Array();
      const key = bs58.decode(created.id);
      expect(fieldAt(request, inPayment.account, 1)).toEqual(bs58.decode(destination));
      if (dialect === 'intents') {
        expect(numbersIn(message)).toEqual([3, kind.payment]);
        expect(numbersIn(request)).toEqual([1, 3, 7]);
        expect(fieldAt(request, inPayment.rendezvous, 1)).toEqual(key);
      } else {
        expect(numbersIn(message)).toEqual([kind.payment]);
        expect(numbersIn(request)).toEqual([1, 3]);
        expect(rendezvousKey).toEqual(key);
      }
    });

    it.each<[terms: Pick<CreatePaymentParameters, 'amount' | 'currency' | 'exact'>, field: number, hex: string]>([
      [{ amount: '0.05', currency: 'usd' }, inPayment.partial, '0a03757364119a9999999999a93f'],
      [{ amount: 2.5, currency: 'eur' }, inPayment.partial, '0a03657572110000000000000440'],
      // Rate 1, 2.5 kin, 250 000 quarks.
      [{ amount: '2.5', currency: 'kin' }, inPayment.exact, '0a036b696e11000000000000f03f1900000000000004402090a10f'],
      // Rate 0.25, 4.50 usd, 1 800 000 quarks; encoded with Python's struct.
      [
        { amount: '4.50', currency: 'usd', exact: { exchangeRate: 0.25, quarks: '1800000' } },
        inPayment.exact,
        '0a0375736411000000000000d03f19000000000000124020c0ee6d',
      ],
    ])('payment: %j is encoded with its kind of rate (interface 2.4)', async (terms, field, hex) => {
      const { message } = await send(dialect, (client) => client.paymentIntents.create({ destination, ...terms }));
      const request = fieldAt(message, kind.payment) ?? new Uint8Array();
      expect(Buffer.from(fieldAt(request, field) ?? []).toString('hex')).toBe(hex);
      const other = field === inPayment.partial ? inPayment.exact : inPayment.partial;
      expect(fieldAt(request, other)).toBeUndefined();
    });
  });

  it('getUserId is signed by the verifier, over the request without the signature (interface 4.7, protocol 5)', async () => {
    service.answerWith(Uint8Array.of(0x08, 0x03));
    const client = createIntentClient(service.options);
    const intent = generateKeyPair().publicKey;
    await expect(client.loginIntents.getUserId({ intent, verifier })).rejects.toMatchObject({ code: 'login_pending' });
    await client.close();

    const [call] = service.calls();
    expect(call).toMatchObject({ operation: 'Identity.getLoginForThirdPartyApp' });
    const request = call?.body ?? new Uint8Array();
    expect(numbersIn(request)).toEqual([1, 2, 3]);
    expect(fieldAt(request, 1, 1)).toEqual(bs58.decode(intent));
    expect(verifies(withoutFields(request, 3), fieldAt(request, 3, 1), bs58.decode(verifier.publicKey))).toBe(true);
    expect(fieldAt(request, 2, 1)).toEqual(bs58.decode(verifier.publicKey));
  });
});
