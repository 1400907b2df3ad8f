import request, { type Test } from 'supertest';
import { requireLogin } from '../../../src/http/session/require-login.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { expressVersions, orderIn, type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const service = generateJwtKey();
const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const json = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' };
const jwt = { 'Content-Type': 'application/jwt' };

const base: SiteOptions = {
  sequencer: { transport: countingTransport() },
  webhook: { publicKeys: [service.publicKey] },
  origin: 'https://shop.example',
  payment: (req) => {
    if (orderIn(req) === 'broken') throw new Error('broken');
    return { amount: 5, currency: 'usd' };
  },
  after: (app) => {
    app.get('/guarded', requireLogin({ loginUrl: '/login' }), (_req, res) => void res.send('in'));
    app.get('/own', (_req, res) => void res.send('own'));
  },
};

type Case = readonly [
  method: 'get' | 'head' | 'post' | 'put' | 'delete' | 'options',
  path: string,
  status: number,
  headers?: Record<string, string>,
  body?: string,
];

/** One request for each kind of response. */
const answers: readonly Case[] = [
  ['get', `/status/${id}`, 200],
  ['get', '/.well-known/service-payments.json', 200],
  ['get', '/intent/v1/elements.js', 200],
  ['post', '/intent', 201, json, '{}'],
  ['delete', '/session', 204, json],
  ['post', '/intent/webhook', 200, jwt, jwtOf({ intent: id, state: 'SUBMITTED' }, service)],
  ['get', `/intent/${id}/events`, 204, { 'Last-Event-ID': 'intent_submitted' }],
  ['head', `/intent/${id}/events`, 200],
  ['get', '/guarded', 303, { Accept: 'text/html' }],
  ['get', '/.well-known/service-payments.json', 304, { 'If-None-Match': '*' }],
  ['get', '/status/abc', 400],
  ['post', '/intent', 400, json, '{'],
  ['get', '/guarded', 401, { Accept: 'application/json' }],
  ['post', '/intent', 403, { 'Sec-Fetch-Site': 'cross-site' }],
  ['post', '/session', 404, json, JSON.stringify({ id })],
  ['put', '/intent', 405],
  ['post', '/intent', 413, json, 'x'.repeat(5_000)],
  ['post', '/intent', 415, { 'Sec-Fetch-Site': 'same-origin' }],
  ['post', '/intent', 500, json, '{"order":"broken"}'],
];

/** Whether a response may be cached: it is the same for all and has no secret. */
const isPublic = (path: string): boolean => path.endsWith('.js') || path.startsWith('/.well-known/');

function send(origin: string, [method, path, , headers = {}, body]: Case): Test {
  const req = request(origin)[method](path).redirects(0).set(headers);
  return body === undefined ? req : req.send(body);
}

function expectHeaders(path: string, headers: Record<string, string>): void {
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  if (!isPublic(path)) expect(headers['cache-control']).toContain('no-store');
  for (const name of ['x-powered-by', 'strict-transport-security', 'access-control-allow-origin', 'server']) {
    expect([name, headers[name]]).toEqual([name, undefined]);
  }
}

describe.each(Object.entries(expressVersions))('security headers and Cache-Control on %s', (_name, factory) => {
  let origin: string;
  beforeAll(async () => {
    ({ origin } = await startSite({ ...base, factory }));
  });

  test.each(answers.map((answer) => [answer.slice(0, 3).join(' '), answer] as const))(
    'are set on %s',
    async (_name, answer) => {
      const { status, headers } = await send(origin, answer);
      expect(status).toBe(answer[2]);
      expectHeaders(answer[1], headers);
    },
  );

  test('are set on 429', async () => {
    const site = await startSite(base, { factory, limits: { requests: { status: 1 } } });
    await request(site.origin).get(`/status/${id}`).expect(200);
    for (const path of [`/status/${id}`, `/intent/${id}/events`]) {
      expectHeaders(path, (await request(site.origin).get(path).expect(429)).headers);
    }
  });

  test('are set on 503, and not on routes of the app', async () => {
    const transport = { call: async () => Promise.reject(new Error('down')), close: async () => undefined };
    const site = await startSite(base, { factory, sequencer: { transport } });
    const { headers, status } = await request(site.origin).get(`/status/${id}`);
    expect(status).toBeGreaterThanOrEqual(500);
    expectHeaders('/status', headers);
    const own = await request(site.origin).get('/own').expect(200);
    expect(own.headers['content-security-policy']).toBeUndefined();
    expect(own.headers['x-powered-by']).toBe('Express');
  });
});
