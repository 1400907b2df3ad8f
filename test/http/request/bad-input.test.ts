import type express from 'express';
import request from 'supertest';
import type { HttpProblem } from '../../support/sites/http-error.js';
import { post } from '../../support/sites/post.js';
import { expressVersions, orderIn, type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

/** A site that records its calls to the sequencer. Bad input must cause none. */
async function startCountedSite(options: SiteOptions = {}) {
  const transport = countingTransport();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const site = await startSite({ sequencer: { url: 'https://sequencer.example', transport }, payment }, options);
  return { ...site, calls: transport.calls };
}

const badBodies: [name: string, body: string, code: string][] = [
  ['an amount', '{"amount":1}', 'terms_not_accepted'],
  ['a destination', '{"destination":"E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR"}', 'terms_not_accepted'],
  ['an unknown field', '{"order":1,"coupon":"x"}', 'unknown_field'],
  ['__proto__', '{"__proto__":{"mode":"login"}}', 'unknown_field'],
  ['an unknown mode', '{"mode":"refund"}', 'not_supported'],
  ['a mode that is not a string', '{"mode":["login"]}', 'not_supported'],
  ['an array', '[]', 'invalid_request'],
  ['null', 'null', 'invalid_request'],
  ['broken JSON', '{"order":', 'invalid_json'],
  ['a byte order mark alone', '\ufeff', 'invalid_json'],
];

describe.each(Object.entries(expressVersions))('POST /intent on %s answers 400 for a body with', (_name, factory) => {
  test.each(badBodies)('%s', async (_name, body, code) => {
    const { origin, calls } = await startCountedSite({ factory });
    const response = await post(origin).type('json').send(body);
    expect(response.body).toMatchObject({ status: response.status, code });
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(calls).toEqual([]);
    expect(({} as Record<string, unknown>).mode).toBeUndefined();
  });
});

test('POST /intent answers 400 for bytes that are not UTF-8', async () => {
  const { origin, calls } = await startCountedSite();
  const body = Buffer.from([0x7b, 0x22, 0x6f, 0x72, 0x64, 0x65, 0x72, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]);
  const response = await fetch(`${origin}/intent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body,
  });
  expect([response.status, ((await response.json()) as HttpProblem).code]).toEqual([400, 'invalid_json']);
  expect(calls).toEqual([]);
});

describe('an order in POST /intent', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test.each([
    ['nested 1500 levels deep', nested(1_500)],
    ['nested 17 levels deep', nested(17)],
    ['a string with a NUL', '"a\\u0000b"'],
    ['an object with a NUL in a key', '{"a\\u0000":1}'],
    ['an infinite number', '{"a":[-1e999]}'],
  ])('is rejected when it is %s', async (_name, order) => {
    const { origin, calls } = await startCountedSite({
      payment: (req) => ({ amount: 5, currency: 'usd', metadata: { order: orderIn(req) } }),
    });
    const response = await post(origin).type('json').send(`{"order":${order}}`).expect(400);
    expect(response.body).toMatchObject({
      code: 'invalid_request',
      detail:
        'The field "order" is invalid. Send JSON nested at most 16 levels deep, without NUL characters, lone surrogates or numbers out of range.',
    });
    expect(calls).toEqual([]);
  });

  test.each([nested(16), '"\\ud83c\\udf75 for Zo\u00eb"', '{"__proto__":{"a":1}}', '0', 'null', '[[],{},"",false]'])(
    'is accepted and recorded when it is %s',
    async (order) => {
      const notes: unknown[] = [];
      const { origin } = await startCountedSite({
        payment: (req) => ({ amount: 5, currency: 'usd', metadata: { order: { is: orderIn(req) } } }),
        onCreated: (record) => void notes.push(record.kind === 'payment' && record.metadata),
      });
      await post(origin).type('json').send(`{"order":${order}}`).expect(201);
      expect(JSON.stringify(notes)).toBe(JSON.stringify([{ order: { is: JSON.parse(order) } }]));
    },
  );
});

describe('POST /intent', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json'])(
    'answers 415 for the content type %s',
    async (type) => {
      const { origin, calls } = await startCountedSite();
      const response = await post(origin).set('Content-Type', type).send('{"order":1}').expect(415);
      expect(response.body.code).toBe('unsupported_media_type');
      expect(calls).toEqual([]);
    },
  );
});

describe('the body limit of 4 KiB', () => {
  const bodyOf = (length: number): string => `{"order":"${'x'.repeat(length - 12)}"}`;

  test('admits 4096 bytes', async () => {
    const { origin } = await startCountedSite();
    expect(bodyOf(4096)).toHaveLength(4096);
    await post(origin).type('json').send(bodyOf(4096)).expect(201);
  });

  test.each([4097, 100_000, 3_000_000])('rejects %i bytes with 413', async (length) => {
    const { origin, calls } = await startCountedSite();
    const response = await post(origin).type('json').send(bodyOf(length)).expect(413);
    expect(response.body.code).toBe('body_too_large');
    expect(calls).toEqual([]);
    await post(origin).type('json').send('{}').expect(201);
  });

  test('counts chunks of a body without Content-Length', async () => {
    const { origin, calls } = await startCountedSite();
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 5; n++) controller.enqueue(new TextEncoder().encode('x'.repeat(1000)));
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json', origin };
    const response = await fetch(`${origin}/intent`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    expect([response.status, ((await response.json()) as HttpProblem).code]).toEqual([413, 'body_too_large']);
    expect(calls).toEqual([]);
  });

  const withEncoding = {
    before: (app: express.Express) =>
      app.use((req, _res, next) => {
        req.setEncoding('utf8');
        next();
      }),
  };

  test.each([
    ['admits 4096 bytes', 4096, 201, undefined],
    ['rejects 4098 bytes', 4098, 413, 'body_too_large'],
  ])('%s, not characters, in chunks that a middleware of the app decodes', async (_name, length, status, code) => {
    const { origin } = await startCountedSite(withEncoding);
    const bytes = new TextEncoder().encode(`{"order":"${'ü'.repeat((length - 12) / 2)}"}`);
    expect(bytes).toHaveLength(length);
    const body = new ReadableStream({
      start(controller) {
        // The border of the chunks is within a letter.
        for (const chunk of [bytes.slice(0, 1_001), bytes.slice(1_001)]) controller.enqueue(chunk);
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json', origin };
    const response = await fetch(`${origin}/intent`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    expect([response.status, ((await response.json()) as HttpProblem).code]).toEqual([status, code]);
  });
});

describe.each(Object.entries(expressVersions))('POST /intent on %s', (_name, factory) => {
  const order = { article: 'tea', note: 'für Zoë' };
  test.each([
    ['none', {}],
    ['json before', { before: (app: express.Express) => app.use(factory.json()) }],
    ['json after', { after: (app: express.Express) => app.use(factory.json()) }],
    ['urlencoded before', { before: (app: express.Express) => app.use(factory.urlencoded({ extended: true })) }],
    ['raw before', { before: (app: express.Express) => app.use(factory.raw({ type: '*/*' })) }],
    ['text before', { before: (app: express.Express) => app.use(factory.text({ type: '*/*' })) }],
  ])('receives the order with this body parser of the app: %s', async (_name, options) => {
    const seen: unknown[] = [];
    const payment = (req: express.Request) => {
      seen.push(orderIn(req));
      return { amount: 5, currency: 'usd' };
    };
    const { origin } = await startCountedSite({ factory, payment, ...options });
    await post(origin).send({ order }).expect(201);
    const rejected = await post(origin).send({ order, amount: 1 }).expect(400);
    expect(rejected.body.code).toBe('terms_not_accepted');
    expect(seen).toEqual([order]);
  });

  test.each([
    ['none', {}],
    ['json before', { before: (app: express.Express) => app.use(factory.json()) }],
    [
      'json before, then a slow middleware',
      {
        before: (app: express.Express) => app.use(factory.json()).use((_req, _res, next) => void setTimeout(next, 20)),
      },
    ],
  ])('answers 400 for an empty body with this body parser of the app: %s', async (_name, options) => {
    const { origin, calls } = await startCountedSite({ factory, ...options });
    for (const path of ['/intent', '/session']) {
      const sent = await fetch(origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '0', 'sec-fetch-site': 'same-origin' },
        signal: AbortSignal.timeout(30_000),
      });
      expect([sent.status, ((await sent.json()) as HttpProblem).code]).toEqual([
        400,
        expect.stringMatching(/^invalid_/),
      ]);
    }
    expect(calls).toEqual([]);
  });
});

describe('GET /status/:id (interface 2.2, 8)', () => {
  const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
  test.each([
    ['too short', id.slice(3)],
    ['too long', `${id}z`],
    ['with a 0, which is not Base58', `0${id.slice(1)}`],
    ['with a Cyrillic letter', encodeURIComponent(id.replace('o', 'о'))],
    ['percent-encoded', `%39${id.slice(1)}`],
    ['in the query only', `x?${id}`],
  ])('answers 400 for an id that is %s', async (_name, bad) => {
    const { origin, calls } = await startCountedSite();
    const response = await request(origin).get(`/status/${bad}`).expect(400);
    expect(response.body.code).toBe('invalid_id');
    expect(calls).toEqual([]);
  });
});

describe('an unsupported method', () => {
  test.each([
    ['GET', '/intent', 'POST'],
    ['PATCH', '/session', 'POST, GET, DELETE'],
    ['POST', '/status/abc', 'GET'],
    ['OPTIONS', '/intent', 'POST'],
  ])('answers 405 with Allow: %s %s', async (method, path, allow) => {
    const { origin, calls } = await startCountedSite();
    const response = await fetch(origin + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
    expect(calls).toEqual([]);
  });
});

test('the router passes other paths to the app', async () => {
  const { origin } = await startCountedSite({
    after: (app) => app.get('/intents', (_req, res) => void res.send('own')),
  });
  await request(origin).get('/intents').expect(200, 'own');
  for (const path of ['/status', '/status/', '/status/a/b', '/Intent', '/intent/x', '/constructor', '/__proto__']) {
    await request(origin).get(path).expect(404);
  }
});
