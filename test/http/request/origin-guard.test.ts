import { get as httpGet } from 'node:http';
import type { Express } from 'express';
import request from 'supertest';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const payment = () => ({ amount: 5, currency: 'usd' });

async function start(options: SiteOptions = {}) {
  const transport = countingTransport();
  const site = await startSite({ sequencerUrl: 'https://sequencer.example', transport, payment, ...options });
  return { ...site, calls: transport.calls };
}

type Headers = Record<string, string>;

/** Every change of state, with what it is answered when it is let through. */
const changes: readonly (readonly [method: 'post' | 'delete', path: string, status: number])[] = [
  ['post', '/intent', 201],
  ['post', '/session', 400],
  ['delete', '/session', 204],
];

async function send(origin: string, [method, path]: (typeof changes)[number], headers: Headers) {
  const sent = request(origin)[method](path).set(headers);
  return method === 'post' ? sent.send({}) : sent;
}

describe.each(Object.entries(expressVersions))('who may change something, on %s', (_name, factory) => {
  /** What a browser may say of where a request comes from, and what is said behind its back. */
  const sites = [undefined, 'same-origin', 'same-site', 'cross-site', 'none', 'Same-Origin', 'same-origin, cross-site'];
  const originsOf = (own: string): (string | undefined)[] => [
    undefined,
    own,
    'null',
    '',
    '*',
    'https://evil.example',
    own.replace('http:', 'https:'),
    own.replace(/:\d+$/, ':1'),
    own.replace(/:\d+$/, ''),
    `${own}/`,
    `${own}.evil.example`,
    own.toUpperCase(),
    `${own}, ${own}`,
    own.replace('127.0.0.1', 'localhost'),
    own.replace('http://', 'http://user@'),
  ];

  test('of all pairs of the two headers, those that name this very site alone', async () => {
    const { origin, calls } = await start({ factory });
    for (const change of changes) {
      for (const site of sites) {
        for (const from of originsOf(origin)) {
          const headers = { ...(site && { 'Sec-Fetch-Site': site }), ...(from !== undefined && { Origin: from }) };
          const isAllowed = site === 'same-origin' || (site === undefined && from === origin);
          const { status, body } = await send(origin, change, headers);
          expect({ change, headers, status }).toEqual({ change, headers, status: isAllowed ? change[2] : 403 });
          if (!isAllowed) expect(body.code).toBe('cross_site_request');
        }
      }
    }
    // Nothing of what was refused has reached the service.
    const allowed = 1 + originsOf(origin).length;
    expect(calls).toEqual(Array(allowed).fill('createIntent'));
  });

  test('the scheme counts, as a trusted proxy tells it and nobody else', async () => {
    const behindProxy = await start({ factory, before: (app: Express) => app.set('trust proxy', 1) });
    const [intent] = changes as [(typeof changes)[number]];
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example', Host: 'shop.example' };
    const tell = async (origin: string, from: string) =>
      (await send(origin, intent, { ...forwarded, Origin: from })).status;
    expect(await tell(behindProxy.origin, 'https://shop.example')).toBe(201);
    expect(await tell(behindProxy.origin, 'http://shop.example')).toBe(403);
    expect(await tell(behindProxy.origin, 'https://evil.example')).toBe(403);
    const bare = await start({ factory });
    expect(await tell(bare.origin, 'http://shop.example')).toBe(201);
    expect(await tell(bare.origin, 'https://shop.example')).toBe(403);
  });

  test('a configured origin is the only one, whatever the host', async () => {
    const { origin } = await start({ factory, origin: 'https://shop.example' });
    for (const change of changes) {
      expect((await send(origin, change, { Origin: 'https://shop.example' })).status).toBe(change[2]);
      expect((await send(origin, change, { Origin: origin })).status).toBe(403);
      expect((await send(origin, change, { Origin: 'http://shop.example' })).status).toBe(403);
    }
  });
});

describe('sharing with other sites', () => {
  const asked = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
  const paths = ['/intent', '/session', '/intent/webhook', '/status/abc', '/.well-known/service-payments.json'];

  test.each(paths)('a preflight to %s is told nothing that allows', async (path) => {
    const { origin } = await start();
    const { status, headers } = await request(origin).options(path).set(asked);
    // The webhook route is there with the option `webhook` alone.
    expect(status).toBe(path.endsWith('webhook') ? 404 : 405);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('an app that shares everything still lets nobody else change anything', async () => {
    const before = (app: Express): unknown =>
      app.use((req, res, next) => {
        res.set({
          'Access-Control-Allow-Origin': req.get('Origin') ?? '*',
          'Access-Control-Allow-Credentials': 'true',
        });
        next();
      });
    const { origin, calls } = await start({ before: (app) => void before(app) });
    for (const change of changes) {
      const answer = await send(origin, change, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
      expect(answer.status).toBe(403);
    }
    expect(calls).toEqual([]);
  });
});

test.each(['GET', 'HEAD'])('%s changes nothing, wherever it comes from', async (method) => {
  const { origin, calls } = await start();
  const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
  for (const [path, status] of [
    ['/session', 200],
    ['/intent', 405],
  ] as const) {
    const answered = await new Promise((resolve, reject) => {
      httpGet(`${origin}${path}`, { method, headers }, (res) => resolve(res.resume().statusCode)).on('error', reject);
    });
    expect(answered).toBe(status);
  }
  expect(calls).toEqual([]);
});
