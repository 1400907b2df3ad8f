import type { Express } from 'express';
import request from 'supertest';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const payment = () => ({ amount: 5, currency: 'usd' });

async function start(options: SiteOptions = {}) {
  const transport = countingTransport();
  const site = await startSite({ sequencer: { url: 'https://sequencer.example', transport }, payment }, options);
  return { ...site, calls: transport.calls };
}

type Headers = Record<string, string>;

/** Every change of state, with its status when the guard admits it. */
const changes: readonly (readonly [method: 'post' | 'delete', path: string, status: number])[] = [
  ['post', '/intent', 201],
  ['post', '/session', 400],
  ['delete', '/session', 204],
];

async function send(origin: string, [method, path]: (typeof changes)[number], headers: Headers) {
  const req = request(origin)[method](path).set(headers);
  return method === 'post' ? req.send({}) : req;
}

describe.each(Object.entries(expressVersions))('the origin guard on %s', (_name, factory) => {
  /** Values of Sec-Fetch-Site that browsers send, and invalid ones. */
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

  test('admits a change only from the own origin, for all pairs of Origin and Sec-Fetch-Site', async () => {
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
    // No rejected request reached the service.
    const allowed = 1 + originsOf(origin).length;
    expect(calls).toEqual(Array(allowed).fill('createIntent'));
  });

  test('compares the scheme, and reads it only from a trusted proxy', async () => {
    const behindProxy = await start({ factory, before: (app: Express) => app.set('trust proxy', 1) });
    const [intent] = changes as [(typeof changes)[number]];
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example', Host: 'shop.example' };
    const statusFrom = async (origin: string, from: string) =>
      (await send(origin, intent, { ...forwarded, Origin: from })).status;
    expect(await statusFrom(behindProxy.origin, 'https://shop.example')).toBe(201);
    expect(await statusFrom(behindProxy.origin, 'http://shop.example')).toBe(403);
    expect(await statusFrom(behindProxy.origin, 'https://evil.example')).toBe(403);
    const bare = await start({ factory });
    expect(await statusFrom(bare.origin, 'http://shop.example')).toBe(201);
    expect(await statusFrom(bare.origin, 'https://shop.example')).toBe(403);
  });

  test('admits only the configured origin, independent of Host', async () => {
    const { origin } = await start({ factory, origin: 'https://shop.example' });
    for (const change of changes) {
      expect((await send(origin, change, { Origin: 'https://shop.example' })).status).toBe(change[2]);
      expect((await send(origin, change, { Origin: origin })).status).toBe(403);
      expect((await send(origin, change, { Origin: 'http://shop.example' })).status).toBe(403);
    }
  });
});

describe('CORS', () => {
  const preflight = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
  const paths = ['/intent', '/session', '/intent/webhook', '/status/abc', '/.well-known/service-payments.json'];

  test.each(paths)('is not allowed by a preflight to %s', async (path) => {
    const { origin } = await start();
    const { status, headers } = await request(origin).options(path).set(preflight);
    // The webhook route exists only with the option `webhook`.
    expect(status).toBe(path.endsWith('webhook') ? 404 : 405);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});
