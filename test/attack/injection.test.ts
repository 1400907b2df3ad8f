import type { Express } from 'express';
import { requireLogin } from '../../src/http/session/require-login.js';
import type { IntentEvent } from '../../src/sequencer/watch/intent-event.js';
import { intentId, startEventSite } from '../support/sites/event-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { base64url, generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { type SiteOptions, startSite } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';
import { type RawAnswer, rawRequest, sendRaw } from './support/raw-request.js';
import { sentTerms } from './support/sent-terms.js';

const service = generateJwtKey();

/** A site with all routes. */
async function startFullSite(options: SiteOptions = {}) {
  const transport = recordingTransport();
  const site = await startSite(
    {
      sequencer: { transport },
      webhook: { publicKeys: [service.publicKey] },
      origin: 'https://shop.example',
      payment: () => ({ amount: 5, currency: 'usd' }),
      after: (app) => app.get('/account', requireLogin({ loginUrl: '/login' }), (_req, res) => void res.send('in')),
    },
    options,
  );
  return { ...site, transport };
}

const json = ['Host: shop.example', 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json'];
const withLength = (headers: readonly string[], body: string): string[] => [
  ...headers,
  `Content-Length: ${Buffer.byteLength(body)}`,
];

describe('header and SSE injection', () => {
  const breaks = ['\r\nX-Owned: 1', '\rX-Owned: 1', '%0d%0aX-Owned:%201', '\u010d\u010aX-Owned: 1'];
  const places: [name: string, request: (text: string) => Buffer][] = [
    ['the id of a status', (text) => rawRequest('GET', `/status/${intentId}${text}`, ['Host: shop.example'])],
    ['the query', (text) => rawRequest('GET', `/account?next=${text}`, ['Host: shop.example', 'Accept: text/html'])],
    ['the host', (text) => rawRequest('GET', '/account', [`Host: shop.example${text}`, 'Accept: text/html'])],
    [
      'the cookie',
      (text) => rawRequest('POST', '/intent', withLength([...json, `Cookie: intent=${text}`], '{}'), '{}'),
    ],
    [
      'If-None-Match',
      (text) =>
        rawRequest('GET', '/.well-known/service-payments.json', [...json.slice(0, 1), `If-None-Match: "${text}"`]),
    ],
    [
      'Last-Event-ID',
      (text) => rawRequest('HEAD', `/intent/${intentId}/events`, [...json.slice(0, 1), `Last-Event-ID: ${text}`]),
    ],
    [
      'a field of the body',
      (text) => {
        const body = JSON.stringify({ order: 1, [text]: text });
        return rawRequest('POST', '/intent', withLength(json, body), body);
      },
    ],
    [
      'the mode',
      (text) => {
        const body = JSON.stringify({ mode: text });
        return rawRequest('POST', '/intent', withLength(json, body), body);
      },
    ],
    [
      'the id of a login',
      (text) => {
        const body = JSON.stringify({ id: text });
        return rawRequest('POST', '/session', withLength(json, body), body);
      },
    ],
  ];

  test.each(places)('a line break in %s adds no response header', async (_name, request) => {
    const { origin } = await startFullSite();
    for (const text of breaks) {
      const { head, status } = await sendRaw(origin, request(text));
      expect(head.filter((line) => /owned/i.test(line.split(':')[0] ?? ''))).toEqual([]);
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(500);
    }
  });

  test('the texts of a wallet or of the service add no event to a stream', async () => {
    const { origin, watch } = await startEventSite();
    const stream = new RawStream(origin, `/intent/${intentId}/events`);
    await stream.has('event: status');
    const forged = '\n\nevent: intent_submitted\nid: intent_submitted\ndata: {}\n\n';
    // These values violate the types. Bytes of the wire can contain them.
    const events = [
      { kind: `code_scanned${forged}`, id: 'a' },
      { kind: 'code_scanned', id: `b${forged}` },
      { kind: 'code_scanned', id: `c${forged.replaceAll('\n', '\r')}` },
      { kind: 'code_scanned', id: `d${forged.replaceAll('\n', '\r\n')}` },
      { kind: 'code_scanned', id: 'e\0f', timestampMs: Number.NaN },
      { kind: 'client_rejected_payment', id: 'last', timestampMs: 1e300 },
    ] as IntentEvent[];
    for (const event of events) watch.emit(intentId, event);
    await stream.has('id: last');
    const lines = stream.body.split(/\r\n|\r|\n/);
    expect(lines.filter((line) => /^event: ?intent_submitted/.test(line))).toEqual([]);
    expect(lines.filter((line) => /^id: ?intent_submitted/.test(line))).toEqual([]);
    expect(stream.text).not.toContain('\0');
  });

  test('the texts of requests and errors add no line to the log', async () => {
    const { origin, transport, log } = await startFullSite();
    transport.failWith(new Error('no\nerror express-intents: forged'));
    const body = '{"order":"\\nerror express-intents: forged"}';
    await sendRaw(origin, rawRequest('POST', '/intent', withLength(json, body), body));
    const jwt = jwtOf({ intent: '\nforged', state: '\nforged' }, service);
    const hook = ['Host: a', 'Content-Type: application/jwt', `Content-Length: ${jwt.length}`];
    await sendRaw(origin, rawRequest('POST', '/intent/webhook', hook, jwt));
    expect(log.lines.length).toBeGreaterThan(0);
    for (const line of log.lines) expect(line).toMatch(/^[\x20-\x7e]+$/);
  });
});

describe('__proto__ and constructor in JSON bodies', () => {
  const pollution = [
    '"__proto__":{"polluted":true,"amount":"0.05","mode":"login","id":"x"}',
    '"constructor":{"prototype":{"polluted":true,"amount":"0.05"}}',
    '"prototype":{"polluted":true}',
    '"toString":1,"valueOf":1,"hasOwnProperty":1',
    '"then":{"polluted":true}',
    '"toJSON":"polluted"',
    '"__defineGetter__":1,"__lookupGetter__":"x"',
  ];
  const expectUnpolluted = (): void => {
    for (const prototype of [Object.prototype, Array.prototype, Function.prototype, String.prototype]) {
      expect(Object.keys(prototype)).toEqual([]);
      expect((prototype as { polluted?: unknown }).polluted).toBeUndefined();
    }
  };
  afterEach(expectUnpolluted);

  test.each(pollution)(
    '%s next to the fields of POST /intent, POST /session and the webhook is rejected',
    async (members) => {
      const { origin, transport } = await startFullSite();
      for (const [path, body] of [
        ['/intent', `{${members}}`],
        ['/intent', `{"order":1,${members}}`],
        ['/session', `{"id":"${intentId}",${members}}`],
        ['/session', `{${members}}`],
      ] as const) {
        const answer = await sendRaw(origin, rawRequest('POST', path, withLength(json, body), body));
        expect([path, answer.status]).toEqual([path, 400]);
      }
      const header = Buffer.from(`{"alg":"EdDSA",${members}}`);
      for (const jwt of [
        jwtOf(Buffer.from(`{${members}}`), service),
        jwtOf({ intent: intentId }, service, header),
        `${base64url(header)}.${base64url(Buffer.from(`{${members}}`))}.AA`,
      ]) {
        const hook = ['Host: a', 'Content-Type: application/jwt', `Content-Length: ${jwt.length}`];
        const answer = await sendRaw(origin, rawRequest('POST', '/intent/webhook', hook, jwt));
        expect(answer.status).toBe(400);
      }
      expect(transport.calls).toEqual([]);
    },
  );

  test.each(pollution)('%s in the order reaches the hook unchanged and does not change the terms', async (members) => {
    const seen: unknown[] = [];
    const { origin, transport } = await startFullSite({
      payment: (req) => {
        seen.push(req.body);
        return { amount: 5, currency: 'usd' };
      },
    });
    for (const body of [`{"order":{${members}}}`, `{"order":[[{${members}}]]}`]) {
      const answer = await sendRaw(origin, rawRequest('POST', '/intent', withLength(json, body), body));
      expect(answer.status).toBe(201);
    }
    for (const body of seen) {
      expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
      expect(Object.keys(body as object)).toEqual(['order']);
      expect((body as { amount?: unknown }).amount).toBeUndefined();
    }
    expect(sentTerms(transport.calls).map(({ amount }) => amount)).toEqual([5, 5]);
  });

  test.each(pollution)('%s is rejected with clientAmount', async (members) => {
    const { origin, transport } = await startFullSite({
      payment: undefined,
      clientAmount: { min: 1, max: 9, currency: 'usd' },
    });
    for (const body of [`{${members}}`, `{"amount":"2",${members}}`, `{"amount":{${members}}}`]) {
      const answer = await sendRaw(origin, rawRequest('POST', '/intent', withLength(json, body), body));
      expect(answer.status).toBe(400);
    }
    expect(transport.calls).toEqual([]);
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'the name %s has no special meaning as a path, a method, a header or a cookie',
    async (name) => {
      const { origin } = await startFullSite();
      const host = ['Host: shop.example'];
      for (const path of [`/${name}`, `/status/${name}`, `/intent/${name}/events`, `/intent/v1/${name}`]) {
        expect([404, 400]).toContain((await sendRaw(origin, rawRequest('GET', path, host))).status);
      }
      const cookies = [`${name}: 1`, `Cookie: ${name}=1; intent-session=${name}; intent=${name}`];
      const answer = await sendRaw(origin, rawRequest('GET', '/session', [...host, ...cookies]));
      expect([answer.status, answer.body]).toEqual([200, '{"user":null}']);
      // Node accepts a closed list of methods.
      expect((await sendRaw(origin, rawRequest(name, '/session', host))).status).toBe(400);
    },
  );
});

describe('Host and X-Forwarded-* poisoning', () => {
  const poisons: [name: string, headers: readonly string[]][] = [
    ['another host', ['Host: evil.example']],
    ['a host with a user', ['Host: shop.example@evil.example']],
    ['X-Forwarded-Host', ['Host: shop.example', 'X-Forwarded-Host: evil.example']],
    ['X-Forwarded-Proto', ['Host: shop.example', 'X-Forwarded-Proto: http, evil']],
    ['Forwarded', ['Host: shop.example', 'Forwarded: host=evil.example;proto=http;for=evil.example']],
    ['X-Forwarded-For', ['Host: shop.example', 'X-Forwarded-For: evil.example, 127.0.0.1']],
    ['X-HTTP-Method-Override', ['Host: shop.example', 'X-HTTP-Method-Override: DELETE', 'X-Evil.example: 1']],
  ];
  const trusting = { before: (app: Express) => void app.set('trust proxy', true) };

  describe.each([
    ['with trust proxy', trusting],
    ['without trust proxy', {}],
  ] as [string, SiteOptions][])('%s', (_name, options) => {
    let site: Awaited<ReturnType<typeof startFullSite>>;
    const requests = (headers: readonly string[]): Buffer[] => [
      ...['/session', '/.well-known/service-payments.json', '/intent/v1/elements.js', `/status/${intentId}`].map(
        (path) => rawRequest('GET', path, headers),
      ),
      rawRequest('GET', '/account', [...headers, 'Accept: text/html']),
      rawRequest('GET', '/account', [...headers, 'Accept: application/json']),
      rawRequest('GET', '/status/nothing', headers),
      rawRequest('PUT', '/intent', headers),
      ...['{"mode":"login"}', '{"order":1}', '{"amount":1}'].map((body) =>
        rawRequest('POST', '/intent', [...headers, ...withLength(json.slice(1), body)], body),
      ),
    ];

    beforeAll(async () => {
      site = await startFullSite(options);
    });

    test.each(poisons)('%s changes no response and no created intent', async (_name, headers) => {
      const [valid, poisoned] = [requests(['Host: shop.example']), requests(headers)];
      for (const [n, request] of poisoned.entries()) {
        const expected = await sendRaw(site.origin, valid[n] ?? Buffer.of());
        const answer = await sendRaw(site.origin, request);
        expect(withoutRandomValues(answer)).toEqual(withoutRandomValues(expected));
        expect(JSON.stringify(answer)).not.toContain('evil');
      }
      const terms = sentTerms(site.transport.calls);
      expect(new Set(terms.map(({ domain }) => domain))).toEqual(new Set(['shop.example', undefined]));
      for (const { url } of site.transport.registered()) expect(url).toBe('https://shop.example/intent/webhook');
      expect(site.transport.registered().length).toBeGreaterThan(0);
    });
  });
});

/** The response without its random values. */
function withoutRandomValues({ status, head, body }: RawAnswer): unknown {
  const lines = head
    .filter((line) => !/^Date:/i.test(line))
    .map((line) => line.replace(/(intent=)[\w-]{43}/, '$1token').replace(/^(X-Request-Id: )[\w-]{36}$/, '$1id'));
  const stableBody = body.replace(/("client_secret":")\w+/, '$1secret').replace(/(:request:)[\w-]{36}/, '$1id');
  return { status, head: lines, body: stableBody };
}
