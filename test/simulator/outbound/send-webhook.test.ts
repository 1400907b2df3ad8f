import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { importJWK, jwtVerify } from 'jose';
import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import { formatBase58, parseBase58, parseIntentId } from '../../../src/keys/base58.js';
import type { Simulator } from '../../../src/simulator/index.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import {
  anyRendezvous,
  call,
  closeAll,
  created,
  destination,
  keyPair,
  kindsOf,
  logInAs,
  loginTerms,
  opened,
  payment,
  poll,
  serve,
  start,
  startedAtMs,
  submitAs,
} from '../fixture.js';

afterEach(closeAll);

const { Result } = v1.RegisterWebhookResponse;
const ada = keyPair(1);

/** Registers a webhook, as a page of `origin` if given. */
async function register(
  url: string,
  id: string,
  webhook: string,
  origin?: string,
): Promise<v1.RegisterWebhookResponse.Result> {
  const body = encode(v1.RegisterWebhookRequest, { intentId: { value: parseIntentId(id) }, url: webhook });
  return decode(v1.RegisterWebhookResponse, opened(await call(url, operations.registerWebhook, body, origin))).result;
}

interface Delivery {
  method: string | undefined;
  contentType: string | undefined;
  body: string;
}

/** A site that records its webhooks. `next` waits for one. */
async function receiver(status = 200) {
  const deliveries: Delivery[] = [];
  const waiting: (() => void)[] = [];
  const origin = await serve(async (req: IncomingMessage, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    await once(req, 'end');
    deliveries.push({ method: req.method, contentType: req.headers['content-type'], body });
    res.writeHead(status).end();
    for (const wake of waiting.splice(0)) wake();
  });
  const next = async (): Promise<Delivery> => {
    if (deliveries.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return deliveries.shift() as Delivery;
  };
  return { url: `${origin}/intent/webhook`, deliveries, next };
}

async function claims(simulator: Simulator, jwt: string): Promise<unknown> {
  const x = Buffer.from(parseBase58(simulator.webhookPublicKey, 32, 'invalid_key')).toString('base64url');
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
  const { payload, protectedHeader } = await jwtVerify(jwt, key, { algorithms: ['EdDSA'] });
  expect(protectedHeader.alg).toBe('EdDSA');
  return payload;
}

describe('MicroPayment.registerWebhook (protocol 5)', () => {
  test('answers OK once, then ALREADY_REGISTERED', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    expect(await register(url, id, 'https://example.com/hook')).toBe(Result.OK);
    expect(await register(url, id, 'https://example.com/hook')).toBe(Result.ALREADY_REGISTERED);
  });

  test('answers REQUEST_NOT_FOUND for an unknown intent, INTENT_EXISTS for a submitted one', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    const unknown = formatBase58(anyRendezvous().publicKey);
    expect(await register(url, unknown, 'https://example.com/hook')).toBe(Result.REQUEST_NOT_FOUND);
    opened(await submitAs(url, id, ada));
    expect(await register(url, id, 'https://example.com/hook')).toBe(Result.INTENT_EXISTS);
  });

  test.each(['http://example.com/hook', 'nonsense', `https://example.com/${'x'.repeat(2_048)}`])(
    'answers INVALID_URL to %s',
    async (webhook) => {
      const { url } = await start();
      const { id } = await created(url, payment());
      expect(await register(url, id, webhook)).toBe(Result.INVALID_URL);
    },
  );

  test.each(['http://127.0.0.1:1/hook', 'http://localhost/hook', 'http://[::1]:1/hook', 'https://localhost/'])(
    'accepts a URL on this machine: %s',
    async (webhook) => {
      const { url } = await start();
      const { id } = await created(url, payment());
      expect(await register(url, id, webhook)).toBe(Result.OK);
    },
  );

  test.each(['https://evil.example', 'http://127.0.0.1:2', 'http://localhost:1', 'https://127.0.0.1:1', 'null'])(
    'answers INVALID_URL to a page of %s for a webhook at another origin, and stores nothing',
    async (origin) => {
      const { url } = await start();
      const { id } = await created(url, payment());
      expect(await register(url, id, 'http://127.0.0.1:1/hook', origin)).toBe(Result.INVALID_URL);
      expect(await register(url, id, 'http://127.0.0.1:1/hook')).toBe(Result.OK);
    },
  );

  test('answers OK to a page for a webhook at its own origin', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    expect(await register(url, id, 'http://127.0.0.1:1/hook', 'http://127.0.0.1:1')).toBe(Result.OK);
  });
});

describe('the webhook call (protocol 5)', () => {
  test('a payment: one JWT signed by the service key, then webhook_called at the rendezvous', async () => {
    const simulator = await start();
    const site = await receiver();
    const intent = await created(simulator.url, payment());
    await register(simulator.url, intent.id, site.url);
    opened(await submitAs(simulator.url, intent.id, ada));
    const { method, contentType, body } = await site.next();
    expect({ method, contentType }).toEqual({ method: 'POST', contentType: 'application/jwt' });
    expect(await claims(simulator, body)).toEqual({
      intent: intent.id,
      currency: 'USD',
      amount: 12.5,
      exchangeRate: 1,
      quarks: 1_250_000,
      destination,
      state: 'SUBMITTED',
    });
    const rendezvous = rendezvousKeyPair(parseClientSecret(intent.clientSecret));
    let messages: v1.Message[] = [];
    await eventually(async () => {
      messages = await poll(simulator.url, rendezvous);
      return messages.length === 3;
    });
    expect(kindsOf(messages)).toEqual(['requestToReceiveBill', 'intentSubmitted', 'webhookCalled']);
    const { seconds, nanos } = messages[2]?.webhookCalled?.timestamp ?? {};
    expect(Number(seconds) * 1000 + Number(nanos) / 1e6).toBe(startedAtMs);
    opened(await submitAs(simulator.url, intent.id, ada));
    expect(site.deliveries).toEqual([]);
  });

  test('a payment at a fixed rate states its rate and quarks', async () => {
    const simulator = await start();
    const site = await receiver();
    const exact = { exchangeRate: 0.25, quarks: 5_000_000n };
    const intent = await created(simulator.url, payment({ exact }));
    await register(simulator.url, intent.id, site.url);
    opened(await submitAs(simulator.url, intent.id, ada));
    const stated = { currency: 'USD', amount: 12.5, exchangeRate: 0.25, quarks: 5_000_000 };
    expect(await claims(simulator, (await site.next()).body)).toMatchObject(stated);
  });

  test('a payment with login is called once its user is known', async () => {
    const simulator = await start();
    const site = await receiver();
    const intent = await created(simulator.url, payment({ login: loginTerms }));
    await register(simulator.url, intent.id, site.url);
    opened(await submitAs(simulator.url, intent.id, ada));
    opened(await logInAs(simulator.url, intent.id, ada));
    const { body } = await site.next();
    expect(await claims(simulator, body)).toMatchObject({ currency: 'USD', user: formatBase58(ada.publicKey) });
    expect(site.deliveries).toEqual([]);
  });
});
