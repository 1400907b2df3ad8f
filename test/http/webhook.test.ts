import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import bs58 from 'bs58';
import express from 'express';
import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { base64url, generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { expressVersions, type SiteOptions, startSite } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';

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

/** A site that takes webhooks by `service`, whose way to the sequencer tells what was asked. */
async function startWebhookSite(options: SiteOptions = {}) {
  const transport = recordingTransport();
  let nowMs = startedAtMs;
  const site = await startSite({
    transport,
    webhook: true,
    serviceKey: service.publicKey,
    origin: 'https://shop.example',
    now: () => nowMs,
    ...options,
  });
  const passMs = (ms: number): void => {
    nowMs += ms;
  };
  return { ...site, transport, passMs };
}

function post(origin: string, body: string | Buffer, contentType = 'application/jwt', path = '/intent/webhook') {
  return request(origin).post(path).set('content-type', contentType).send(body);
}

describe.each(Object.entries(expressVersions))('a call by the service, on %s (protocol 5)', (_name, factory) => {
  test('is answered with 200 and nothing else, and leads to one look at the intent', async () => {
    const { origin, transport } = await startWebhookSite({ factory });
    const answer = await post(origin, jwtOf(claims, service)).expect(200);
    expect(answer.text).toBe('');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(transport.lookedAt()).toEqual([id]);
  });
});

describe('what is taken', () => {
  test.each<[string, Record<string, unknown>]>([
    ['claims that nobody knows', { ...claims, more: { of: ['them'] } }],
    ['a login, which has no money', { intent: id, state: 'SUBMITTED', user: otherId }],
    ['an unknown state, which is for the status to tell', { intent: id, state: 'TELEPORTED' }],
    ['a time that has not passed', { ...claims, exp: startedAtMs / 1000 + 1 }],
    ['a time that passed less than a minute ago', { ...claims, exp: startedAtMs / 1000 - 59 }],
    ['claims nested deeply', { ...claims, deep: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) }],
  ])('%s', async (_name, payload) => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, jwtOf(payload, service)).expect(200);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test.each(['application/jwt', 'Application/JWT', 'application/jwt; charset=utf-8'])('as %s', async (contentType) => {
    const { origin } = await startWebhookSite();
    await post(origin, jwtOf(claims, service), contentType).expect(200);
  });

  test.each([
    { alg: 'EdDSA', typ: 'JWT' },
    { alg: 'EdDSA', kid: 'a key' },
  ])('with the header %j', async (header) => {
    const { origin } = await startWebhookSite();
    await post(origin, jwtOf(claims, service, header)).expect(200);
  });

  test('from anywhere: the service is no browser, and its word is in the signature', async () => {
    const { origin } = await startWebhookSite();
    await post(origin, jwtOf(claims, service))
      .set({ origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' })
      .expect(200);
  });

  test('signed by any of several keys, while the service changes its key', async () => {
    const next = generateJwtKey();
    const { origin, transport } = await startWebhookSite({ serviceKey: `${service.publicKey}, ${next.publicKey}` });
    await post(origin, jwtOf(claims, service)).expect(200);
    await post(origin, jwtOf({ ...claims, intent: otherId }, next)).expect(200);
    await post(origin, jwtOf(claims, stranger)).expect(400);
    expect(transport.lookedAt()).toEqual([id, otherId]);
  });

  test.each<[string, SiteOptions['before']]>([
    ['text', (app) => app.use(express.text({ type: '*/*' }))],
    ['raw', (app) => app.use(express.raw({ type: '*/*' }))],
  ])('after a parser of the app: %s', async (_name, before) => {
    const { origin, transport } = await startWebhookSite({ ...(before && { before }) });
    await post(origin, jwtOf(claims, service)).expect(200);
    await post(origin, 'x'.repeat(8_193)).expect(413);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test('at another path, under another mount path', async () => {
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

/** RFC 7797: the payload stands there as it is, and is signed as it is. */
function withPlainPayload(): string {
  const header = base64url({ alg: 'EdDSA', b64: false, crit: ['b64'] });
  const payload = JSON.stringify(claims);
  return `${header}.${payload}.${base64url(sign(null, Buffer.from(`${header}.${payload}`), service.privateKey))}`;
}

const strangersJwk = { kty: 'OKP', crv: 'Ed25519', x: stranger.x };
const seconds = startedAtMs / 1000;

const refused: Record<string, string | Buffer> = {
  'another key': jwtOf(claims, stranger),
  'alg none, without a signature': `${signedPart({ alg: 'none' }, claims)}.`,
  'alg none, with the signature of another call': `${base64url({ alg: 'none' })}.${goodPayload}.${goodSignature}`,
  'alg none, signed': jwtOf(claims, service, { alg: 'none' }),
  'alg NONE': `${signedPart({ alg: 'NONE' }, claims)}.AA`,
  'no alg': jwtOf(claims, service, {}),
  'alg Ed25519, which is not what the protocol says': jwtOf(claims, service, { alg: 'Ed25519' }),
  'HS256 with the public key as its secret, Base58': withHmac(service.publicKey),
  'HS256 with the public key as its secret, bytes': withHmac(Buffer.from(bs58.decode(service.publicKey))),
  'HS256 with the public key as its secret, base64url': withHmac(service.x),
  RS256: withRsa(),
  'a key of its own: jwk': jwtOf(claims, stranger, { alg: 'EdDSA', jwk: strangersJwk }),
  'a key of its own, beside the right signature': jwtOf(claims, service, { alg: 'EdDSA', jwk: strangersJwk }),
  'the address of a key: jku': jwtOf(claims, service, { alg: 'EdDSA', jku: 'https://stranger.example/keys' }),
  'a certificate: x5c': jwtOf(claims, service, { alg: 'EdDSA', x5c: ['AAAA'] }),
  'the address of a certificate: x5u': jwtOf(claims, service, { alg: 'EdDSA', x5u: 'https://stranger.example' }),
  'crit with what nobody knows': jwtOf(claims, service, { alg: 'EdDSA', crit: ['exp'], exp: 1 }),
  'crit with b64 true': jwtOf(claims, service, { alg: 'EdDSA', crit: ['b64'], b64: true }),
  'crit with b64 false': withPlainPayload(),
  'crit with b64 false, encoded': jwtOf(claims, service, { alg: 'EdDSA', crit: ['b64'], b64: false }),
  'b64 false without crit': jwtOf(claims, service, { alg: 'EdDSA', b64: false }),
  'another payload': `${goodHeader}.${base64url({ ...claims, intent: otherId })}.${goodSignature}`,
  'another header': `${base64url({ alg: 'EdDSA', kid: 'x' })}.${goodPayload}.${goodSignature}`,
  'a signature with a bit changed': `${goodHeader}.${goodPayload}.${goodSignature.startsWith('A') ? 'B' : 'A'}${goodSignature.slice(1)}`,
  'half a signature': `${goodHeader}.${goodPayload}.${goodSignature.slice(0, 43)}`,
  'no signature': `${goodHeader}.${goodPayload}.`,
  'two parts': `${goodHeader}.${goodPayload}`,
  'four parts': `${good}.${goodSignature}`,
  'five parts, as of a JWE': `${good}.AA.AA`,
  'a line break after it': `${good}\n`,
  'a JWS as JSON': JSON.stringify({ protected: goodHeader, payload: goodPayload, signature: goodSignature }),
  'no bytes': '',
  'a word': 'nonsense',
  'two dots': '..',
  'not UTF-8': Buffer.from('fffe2efffe2efffe', 'hex'),
  'a header that is not UTF-8': `${base64url(Buffer.from('fffe', 'hex'))}.${goodPayload}.${goodSignature}`,
  'a header that is no object': jwtOf(claims, service, ['EdDSA']),
  'a header nested deeply': `${base64url(Buffer.from('['.repeat(4_000)))}.${goodPayload}.${goodSignature}`,
  'claims that are not UTF-8': jwtOf(Buffer.from('fffe', 'hex'), service),
  'claims that are no JSON': jwtOf(Buffer.from('{'), service),
  'claims that are a list': jwtOf([claims], service),
  'claims that are null': jwtOf(null, service),
  'no intent': jwtOf({ state: 'SUBMITTED' }, service),
  'an intent that is no text': jwtOf({ ...claims, intent: [id] }, service),
  'an intent that is no id': jwtOf({ ...claims, intent: 'nonsense' }, service),
  'an intent in a second spelling': jwtOf({ ...claims, intent: `1${id}` }, service),
  'an intent of 31 bytes': jwtOf({ ...claims, intent: bs58.encode(new Uint8Array(31).fill(9)) }, service),
  'an intent by inheritance': jwtOf(Buffer.from(`{"__proto__":{"intent":"${id}","state":"SUBMITTED"}}`), service),
  'no state': jwtOf({ intent: id }, service),
  'a state that is no text': jwtOf({ ...claims, state: 1 }, service),
  'a time that has passed': jwtOf({ ...claims, exp: seconds - 61 }, service),
  'a time that has not come': jwtOf({ ...claims, nbf: seconds + 61 }, service),
  'a time that is no number': jwtOf({ ...claims, exp: 'never' }, service),
};

describe('what is refused as invalid_webhook, and asks upstream for nothing', () => {
  test.each(Object.entries(refused))('%s', async (_name, body) => {
    const { origin, transport, log } = await startWebhookSite();
    const { body: problem, headers } = await post(origin, body).expect(400);
    // The same for all, so that nobody learns how near it was.
    expect(problem).toEqual({
      type: 'urn:express-intents:error:invalid_webhook',
      title: 'The webhook call is not signed by the payment service',
      status: 400,
      code: 'invalid_webhook',
      instance: expect.any(String),
    });
    expect(headers['content-type']).toBe('application/problem+json');
    expect(transport.calls).toEqual([]);
    expect(log.lines.filter((line) => line.includes('INTENT_SERVICE_KEY'))).toHaveLength(1);
    // And it has changed nothing for the service.
    await post(origin, good).expect(200);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test('an identical call in every other way is taken, so that it is these details that are refused', async () => {
    const { origin } = await startWebhookSite();
    await post(origin, good).expect(200);
  });

  test('the log is told once a minute, whatever a stranger sends', async () => {
    const { origin, log, passMs } = await startWebhookSite();
    const told = (): number => log.lines.filter((line) => line.includes('rejected a webhook call')).length;
    for (let n = 0; n < 5; n += 1) await post(origin, jwtOf({ ...claims, n }, stranger)).expect(400);
    expect(told()).toBe(1);
    passMs(60_000);
    await post(origin, 'nonsense').expect(400);
    expect(told()).toBe(2);
    expect(log.text).not.toContain(goodPayload);
  });
});

describe('what is refused before it is looked at', () => {
  test.each(['application/json', 'text/plain', 'application/octet-stream', 'application/jose', 'application/jwt2'])(
    '415 for %s',
    async (contentType) => {
      const { origin, transport } = await startWebhookSite();
      const { body } = await post(origin, good, contentType).expect(415);
      expect(body.code).toBe('unsupported_media_type');
      expect(transport.calls).toEqual([]);
    },
  );

  test('415 for a body that is compressed', async () => {
    const { origin } = await startWebhookSite();
    await post(origin, good).set('content-encoding', 'gzip').expect(415);
  });

  test('413 over 8 KiB, said or not, and however it is signed', async () => {
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

  test.each(['get', 'put', 'delete'] as const)('405 for %s', async (method) => {
    const { origin } = await startWebhookSite();
    const { headers } = await request(origin)[method]('/intent/webhook').expect(405);
    expect(headers.allow).toBe('POST');
  });

  test('404 where the site takes no webhooks', async () => {
    const { origin } = await startSite({ transport: recordingTransport() });
    await post(origin, good).expect(404);
  });
});

describe('the same call again', () => {
  test('is answered with 200, because the first answer may have got lost, and leads to nothing', async () => {
    const { origin, transport } = await startWebhookSite();
    for (let n = 0; n < 3; n += 1) await post(origin, good).expect(200);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test('also when it comes twice at the same time', async () => {
    const { origin, transport } = await startWebhookSite();
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(origin, good)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test('also in another spelling of its signature', async () => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, good).expect(200);
    // 64 bytes end two bits into the last character: sixteen characters mean the same.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(good.slice(-1));
    await post(origin, `${good.slice(0, -1)}${alphabet[last ^ 1]}`).expect(200);
    expect(transport.lookedAt()).toEqual([id]);
  });

  test('after an hour it is a new call', async () => {
    const { origin, transport, passMs } = await startWebhookSite();
    await post(origin, good).expect(200);
    passMs(3_599_999);
    await post(origin, good).expect(200);
    expect(transport.lookedAt()).toEqual([id]);
    passMs(1);
    await post(origin, good).expect(200);
    expect(transport.lookedAt()).toEqual([id, id]);
  });

  test('another call for the same intent is another call', async () => {
    const { origin, transport } = await startWebhookSite();
    await post(origin, good).expect(200);
    await post(origin, jwtOf({ ...claims, state: 'SETTLED' }, service)).expect(200);
    expect(transport.lookedAt()).toEqual([id, id]);
  });
});

test('a look that fails is told to the log, and to nobody else', async () => {
  const { origin, log, transport } = await startWebhookSite();
  transport.failWith(new Error('the line is dead'));
  await post(origin, good).expect(200);
  await eventually('a log line', () => log.text.includes('the line is dead'));
  expect(log.text).toContain(id);
});
