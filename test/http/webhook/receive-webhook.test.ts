import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import bs58 from 'bs58';
import express from 'express';
import request from 'supertest';
import { SequencerError } from '../../../src/errors.js';
import { eventually } from '../../support/eventually.js';
import { base64url, generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { recordingTransport } from '../../support/transports/recording-transport.js';

const service = generateJwtKey();
const stranger = generateJwtKey();
const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const otherId = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const claims = {
  intent: id,
  currency: 'USD',
  amount: 12.5,
  exchangeRate: 1,
  quarks: 1_250_000,
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  state: 'SUBMITTED',
};
const startedAtMs = 1_700_000_000_000;

/** A site that accepts webhook calls of `service` and records its calls to the sequencer. */
async function startWebhookSite(options: SiteOptions = {}) {
  const transport = recordingTransport();
  let nowMs = startedAtMs;
  const site = await startSite(
    {
      sequencer: { transport },
      webhook: { publicKeys: [service.publicKey] },
      origin: 'https://shop.example',
      testClock: () => nowMs,
    },
    options,
  );
  const passMs = (ms: number): void => {
    nowMs += ms;
  };
  return { ...site, transport, passMs };
}

function post(origin: string, body: string | Buffer, contentType = 'application/jwt', path = '/intent/webhook') {
  return request(origin).post(path).set('content-type', contentType).send(body);
}

describe.each(Object.entries(expressVersions))('POST /intent/webhook on %s (protocol 5)', (_name, factory) => {
  test('answers 200 with an empty body to a signed call, and polls the intent once', async () => {
    const { origin, transport } = await startWebhookSite({ factory });
    const answer = await post(origin, jwtOf(claims, service)).expect(200);
    expect(answer.text).toBe('');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(transport.polledIds()).toEqual([id]);
  });
});

describe('POST /intent/webhook accepts', () => {
  test.each<[string, Record<string, unknown>]>([
    ['unknown claims', { ...claims, more: { of: ['them'] } }],
    ['an exp in the future', { ...claims, exp: startedAtMs / 1000 + 1 }],
    ['deeply nested claims', { ...claims, deep: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) }],
  ])('%s', async (_name, payload) => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, jwtOf(payload, service)).expect(200);
    expect(transport.polledIds()).toEqual([id]);
  });

  test.each(['application/jwt', 'Application/JWT', 'application/jwt; charset=utf-8'])(
    'the content type %s',
    async (contentType) => {
      const { origin } = await startWebhookSite();
      await post(origin, jwtOf(claims, service), contentType).expect(200);
    },
  );

  test.each([
    { alg: 'EdDSA', typ: 'JWT' },
    { alg: 'EdDSA', kid: 'a key' },
  ])('the header %j', async (header) => {
    const { origin } = await startWebhookSite();
    await post(origin, jwtOf(claims, service, header)).expect(200);
  });

  test('a call with Origin and Sec-Fetch-Site of another site, because the signature authenticates it', async () => {
    const { origin } = await startWebhookSite();
    await post(origin, jwtOf(claims, service))
      .set({ origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' })
      .expect(200);
  });

  test('the signature of any configured key during a key rotation', async () => {
    const next = generateJwtKey();
    const { origin, transport } = await startWebhookSite({
      webhook: { publicKeys: [service.publicKey, next.publicKey] },
    });
    await post(origin, jwtOf(claims, service)).expect(200);
    await post(origin, jwtOf({ ...claims, intent: otherId }, next)).expect(200);
    await post(origin, jwtOf(claims, stranger)).expect(400);
    expect(transport.polledIds()).toEqual([id, otherId]);
  });

  test.each<[string, SiteOptions['before']]>([
    ['text', (app) => app.use(express.text({ type: '*/*' }))],
    ['raw', (app) => app.use(express.raw({ type: '*/*' }))],
  ])('a call that express.%s() of the app has parsed', async (_name, before) => {
    const { origin, transport } = await startWebhookSite({ ...(before && { before }) });
    await post(origin, jwtOf(claims, service)).expect(200);
    await post(origin, 'x'.repeat(8_193)).expect(413);
    expect(transport.polledIds()).toEqual([id]);
  });

  test('a call at its configured path and mount path', async () => {
    const { origin } = await startWebhookSite({ mountPath: '/pay', routes: { webhook: '/hook' }, login: false });
    await post(origin, jwtOf(claims, service), 'application/jwt', '/pay/hook').expect(200);
    await post(origin, jwtOf(claims, service)).expect(404);
  });
});

const signedPart = (header: unknown, payload: unknown): string => `${base64url(header)}.${base64url(payload)}`;
const good = jwtOf(claims, service);
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.');
const { privateKey: rsaKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

function withHmac(secret: string | Buffer): string {
  const signed = signedPart({ alg: 'HS256' }, claims);
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function withRsa(): string {
  const signed = signedPart({ alg: 'RS256' }, claims);
  return `${signed}.${sign('sha256', Buffer.from(signed), rsaKey).toString('base64url')}`;
}

/** RFC 7797: the payload is neither encoded nor signed encoded. */
function withPlainPayload(): string {
  const header = base64url({ alg: 'EdDSA', b64: false, crit: ['b64'] });
  const payload = JSON.stringify(claims);
  return `${header}.${payload}.${base64url(sign(null, Buffer.from(`${header}.${payload}`), service.privateKey))}`;
}

const strangerJwk = { kty: 'OKP', crv: 'Ed25519', x: stranger.x };
const seconds = startedAtMs / 1000;

const rejected: Record<string, string | Buffer> = {
  'another key': jwtOf(claims, stranger),
  'alg none, without a signature': `${signedPart({ alg: 'none' }, claims)}.`,
  'alg none, with the signature of another call': `${base64url({ alg: 'none' })}.${goodPayload}.${goodSignature}`,
  'alg none, signed': jwtOf(claims, service, { alg: 'none' }),
  'alg Ed25519, which the protocol does not allow': jwtOf(claims, service, { alg: 'Ed25519' }),
  'HS256 with the public key as its secret, Base58': withHmac(service.publicKey),
  RS256: withRsa(),
  'an embedded key: jwk': jwtOf(claims, stranger, { alg: 'EdDSA', jwk: strangerJwk }),
  'an embedded key with a valid signature': jwtOf(claims, service, { alg: 'EdDSA', jwk: strangerJwk }),
  'the address of a key: jku': jwtOf(claims, service, { alg: 'EdDSA', jku: 'https://stranger.example/keys' }),
  'crit with an unknown extension': jwtOf(claims, service, { alg: 'EdDSA', crit: ['exp'], exp: 1 }),
  'crit with b64 false': withPlainPayload(),
  'another payload': `${goodHeader}.${base64url({ ...claims, intent: otherId })}.${goodSignature}`,
  'a corrupt signature': `${goodHeader}.${goodPayload}.${goodSignature.startsWith('A') ? 'B' : 'A'}${goodSignature.slice(1)}`,
  'no signature': `${goodHeader}.${goodPayload}.`,
  'two parts': `${goodHeader}.${goodPayload}`,
  'a JWS as JSON': JSON.stringify({ protected: goodHeader, payload: goodPayload, signature: goodSignature }),
  'a word': 'nonsense',
  'not UTF-8': Buffer.from('fffe2efffe2efffe', 'hex'),
  'a header that is not UTF-8': `${base64url(Buffer.from('fffe', 'hex'))}.${goodPayload}.${goodSignature}`,
  'a deeply nested header': `${base64url(Buffer.from('['.repeat(4_000)))}.${goodPayload}.${goodSignature}`,
  'claims that are not JSON': jwtOf(Buffer.from('{'), service),
  'claims that are a list': jwtOf([claims], service),
  'no intent': jwtOf({ state: 'SUBMITTED' }, service),
  'an intent that is not an id': jwtOf({ ...claims, intent: 'nonsense' }, service),
  'an intent with a non-canonical encoding': jwtOf({ ...claims, intent: `1${id}` }, service),
  'an inherited intent': jwtOf(Buffer.from(`{"__proto__":{"intent":"${id}","state":"SUBMITTED"}}`), service),
  'no state': jwtOf({ intent: id }, service),
  'an exp in the past': jwtOf({ ...claims, exp: seconds - 61 }, service),
  'an nbf in the future': jwtOf({ ...claims, nbf: seconds + 61 }, service),
};

describe('POST /intent/webhook rejects with invalid_webhook and without a call to the sequencer', () => {
  test.each(Object.entries(rejected))('%s', async (_name, body) => {
    const { origin, transport, log } = await startWebhookSite();
    const { body: problem, headers } = await post(origin, body).expect(400);
    // The same answer for all, which reveals nothing about the signature check.
    expect(problem).toEqual({
      type: 'urn:express-intents:error:invalid_webhook',
      title: 'The webhook call is invalid',
      status: 400,
      code: 'invalid_webhook',
      instance: expect.any(String),
    });
    expect(headers['content-type']).toBe('application/problem+json');
    expect(transport.calls).toEqual([]);
    expect(log.lines.filter((line) => line.includes('rejected a webhook call'))).toHaveLength(1);
    // A call of the service is still accepted.
    await post(origin, good).expect(200);
    expect(transport.polledIds()).toEqual([id]);
  });

  test('a call that a body parser of the app has turned into an object, and names the parser as the cause', async () => {
    const before: SiteOptions['before'] = (app) =>
      app.use((req, _res, next) => {
        req.resume().on('end', () => {
          req.body = { jwt: 'parsed' };
          next();
        });
      });
    const { origin, log } = await startWebhookSite({ before });
    await post(origin, good).expect(400);
    expect(log.text).toContain('mount the router before body parsers for application/jwt.');
  });

  test('any number of calls with one log line a minute', async () => {
    const { origin, log, passMs } = await startWebhookSite();
    const logged = (): number => log.lines.filter((line) => line.includes('rejected a webhook call')).length;
    for (let n = 0; n < 5; n += 1) await post(origin, jwtOf({ ...claims, n }, stranger)).expect(400);
    expect(logged()).toBe(1);
    expect(log.text).toContain('check the clock and, unless the simulator sends it, INTENT_WEBHOOK_PUBLIC_KEY.');
    passMs(60_000);
    await post(origin, 'nonsense').expect(400);
    expect(logged()).toBe(2);
    expect(log.text).toContain('If the sequencer sent it, mount the router before');
    expect(log.text).not.toContain(goodPayload);
  });
});

describe('POST /intent/webhook', () => {
  test.each(['application/json', 'text/plain', 'application/octet-stream', 'application/jose', 'application/jwt2'])(
    'answers 415 for the content type %s',
    async (contentType) => {
      const { origin, transport } = await startWebhookSite();
      const { body } = await post(origin, good, contentType).expect(415);
      expect(body.code).toBe('unsupported_media_type');
      expect(transport.calls).toEqual([]);
    },
  );

  test('answers 413 for more than 8 KiB, with or without Content-Length, even when signed', async () => {
    const { origin, transport } = await startWebhookSite();
    const padded = (bytes: number): string => jwtOf({ ...claims, padding: 'x'.repeat(bytes) }, service);
    const { body } = await post(origin, padded(7_000)).expect(413);
    expect(body.code).toBe('body_too_large');
    const stream = new Blob([padded(7_000)]).stream();
    const headers = { 'content-type': 'application/jwt' };
    const chunked = await fetch(`${origin}/intent/webhook`, { method: 'POST', headers, body: stream, duplex: 'half' });
    expect(chunked.status).toBe(413);
    await chunked.body?.cancel();
    expect(transport.calls).toEqual([]);
    await post(origin, padded(5_000)).expect(200);
  });

  test('answers 404 without webhook: true', async () => {
    const { origin } = await startSite({ sequencer: { transport: recordingTransport() } });
    await post(origin, good).expect(404);
  });
});

describe('a repeated webhook call', () => {
  test('is answered with 200 and polls nothing', async () => {
    const { origin, transport } = await startWebhookSite();
    for (let n = 0; n < 3; n += 1) await post(origin, good).expect(200);
    expect(transport.polledIds()).toEqual([id]);
  });

  test('polls nothing with another encoding of the same signature', async () => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, good).expect(200);
    // 64 bytes end two bits into the last character: sixteen characters decode to the same bytes.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(good.slice(-1));
    await post(origin, `${good.slice(0, -1)}${alphabet[last ^ 1]}`).expect(200);
    expect(transport.polledIds()).toEqual([id]);
  });

  test('polls the intent again after an hour', async () => {
    const { origin, transport, passMs } = await startWebhookSite();
    await post(origin, good).expect(200);
    passMs(3_599_999);
    await post(origin, good).expect(200);
    expect(transport.polledIds()).toEqual([id]);
    passMs(1);
    await post(origin, good).expect(200);
    expect(transport.polledIds()).toEqual([id, id]);
  });

  test('polls the intent if the queue of rechecks was full at the first call', async () => {
    let received = 0;
    const { origin, transport } = await startWebhookSite({
      sequencer: { timeoutMs: 600_000 },
      limits: { requests: false },
      onEvent: ({ type }) => {
        if (type === 'webhook_received') received += 1;
      },
    });
    const endPolls = transport.hold('getStatus');
    // Four are polled, and a thousand wait.
    const call = async (n: number): Promise<number> => {
      const intent = bs58.encode(createHash('sha256').update(String(n)).digest());
      const headers = { 'content-type': 'application/jwt' };
      const body = jwtOf({ ...claims, intent }, service);
      return (await fetch(`${origin}/intent/webhook`, { method: 'POST', headers, body })).status;
    };
    const waiting: Promise<number>[] = [];
    while (waiting.length < 1_004) {
      // More connections at once than the backlog of the server could be lost.
      for (let n = 0; n < 251; n += 1) waiting.push(call(waiting.length));
      await eventually('the calls have arrived', () => received === waiting.length);
    }
    const refused = await post(origin, good).expect(503);
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['too_busy', '5']);
    endPolls();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
    expect(transport.polledIds()).not.toContain(id);
    await post(origin, good).expect(200);
    expect(transport.polledIds().slice(1_004)).toEqual([id]);
  });

  test('with another payload for the same intent polls the intent again', async () => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, good).expect(200);
    await post(origin, jwtOf({ ...claims, state: 'SETTLED' }, service)).expect(200);
    expect(transport.polledIds()).toEqual([id, id]);
  });
});

test('POST /intent/webhook answers with the error when the poll fails, and polls again for the repeated call', async () => {
  let received = 0;
  const { origin, log, transport } = await startWebhookSite({
    sequencer: { timeoutMs: 600_000 },
    onEvent: ({ type }) => {
      if (type === 'webhook_received') received += 1;
    },
  });
  const endPolls = transport.hold('getStatus');
  const calls = Promise.all([post(origin, good), post(origin, good)]);
  await eventually('both calls share the poll', () => received === 2);
  endPolls(new SequencerError('sequencer_unreachable', 'the line is dead'));
  const failed = await calls;
  expect(failed.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([503, 'sequencer_unreachable']));
  expect(log.text).toContain('the line is dead');
  const polls = transport.polledIds().length;
  transport.recover('getStatus');
  await post(origin, good).expect(200);
  expect(transport.polledIds()).toHaveLength(polls + 1);
});
