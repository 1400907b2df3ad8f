import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import request from 'supertest';
import { isElementFile } from '../../src/http/elements.js';
import { expressVersions, type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const base = { sequencer: { url: 'https://sequencer.example', transport: countingTransport() } };
const path = '/intent/v1/elements.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Fetches without decompression. */
function fetchRaw(url: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = get(url, { headers, method }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks) }));
    });
    req.on('error', reject);
  });
}

/** The configuration of the site in the file. */
async function siteIn(options: SiteOptions = {}, at = path): Promise<unknown> {
  const { origin } = await startSite({ button: { walletUrl: undefined } }, base, options);
  const { text } = await request(origin).get(at).expect(200);
  const [, json = ''] = /^const intentSite = (.*);\n/.exec(text) ?? [];
  return JSON.parse(json);
}

describe.each(Object.entries(expressVersions))('elements.js with %s', (_name, factory) => {
  test.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
  ])('is sent for Accept-Encoding %j with the encoding %s', async (accepted, encoding, decompress) => {
    const { origin } = await startSite({ ...base, factory });
    const { status, headers, body } = await fetchRaw(origin + path, { 'accept-encoding': accepted });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(body.length),
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Accept-Encoding',
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['x-powered-by']).toBeUndefined();
    expect(decompress(body).toString()).toMatch(/^const intentSite = \{"routes":\{"intent":"\/intent",/);
  });
});

describe('the cache of elements.js', () => {
  test('answers 304 for each form of the ETag, in any encoding', async () => {
    const { origin } = await startSite(base);
    const { headers } = await fetchRaw(origin + path, { 'accept-encoding': 'gzip' });
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    for (const tag of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await fetchRaw(origin + path, { 'if-none-match': tag, 'accept-encoding': 'br' });
      expect([tag, again.status, again.body.length]).toEqual([tag, 304, 0]);
      expect(again.headers).toMatchObject({ 'cache-control': 'no-cache', vary: 'Accept-Encoding' });
    }
    expect((await fetchRaw(origin + path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('lasts five minutes in production', async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      const { origin } = await startSite(base);
      const { headers } = await fetchRaw(origin + path, {});
      expect(headers['cache-control']).toBe('public, max-age=300');
    } finally {
      process.env.NODE_ENV = before;
    }
  });
});

const defaults = {
  routes: { intent: '/intent', status: '/status', events: '/intent', session: '/session', elements: '/intent/v1' },
  loginTtlMs: 120_000,
  returnOrigins: [],
};

describe('the configuration in elements.js', () => {
  test('has the routes and loginTtlMs, and no wallet by default', async () => {
    expect(await siteIn()).toEqual(defaults);
  });

  test('has renamed and disabled routes', async () => {
    const routes = { intent: '/pay', status: false, session: '/who', events: '/live', elements: '/assets' } as const;
    const options = { routes, login: { ttlMs: 9_000 }, button: { walletUrl: "https://wallet.example/open?a=$&$'1" } };
    expect(await siteIn(options, '/assets/elements.js')).toEqual({
      routes: { intent: '/pay', status: false, events: '/live', session: '/who', elements: '/assets' },
      loginTtlMs: 9_000,
      walletUrl: "https://wallet.example/open?a=$&$'1",
      returnOrigins: [],
    });
  });

  test('has returnOrigins, and no session route without logins', async () => {
    const returnOrigins = ['https://www.shop.example'];
    expect(await siteIn({ button: { returnOrigins }, login: false })).toMatchObject({
      returnOrigins,
      routes: { session: false },
    });
  });

  test('has the routes without the mount path', async () => {
    expect(await siteIn({ mountPath: '/shop', routes: { keyFile: false } }, `/shop${path}`)).toEqual(defaults);
  });

  test('has the wallet of the simulator', async () => {
    const { origin, router } = await startSite({
      sequencer: { url: 'simulator' },
      simulator: { port: 0 },
      payment: undefined,
    });
    const addresses = await router.ready();
    expect((await request(origin).get(path)).text).toContain(`"walletUrl":"${addresses?.walletUrl}"`);
  });
});

test('site.json has the configuration in elements.js, for a button in a bundle', async () => {
  const { origin } = await startSite(base, {
    routes: { intent: '/pay' },
    button: { walletUrl: 'https://wallet.example/' },
  });
  const response = await request(origin)
    .get('/intent/v1/site.json')
    .expect(200)
    .expect('content-type', 'application/json; charset=utf-8')
    .expect('cache-control', 'no-cache')
    .expect('cross-origin-resource-policy', 'same-origin');
  const walletUrl = 'https://wallet.example/';
  expect(response.body).toEqual({ ...defaults, routes: { ...defaults.routes, intent: '/pay' }, walletUrl });
  expect((await request(origin).get(path)).text).toContain(`const intentSite = ${response.text};\n`);
  const etag = String(response.headers.etag);
  await request(origin).get('/intent/v1/site.json').set('If-None-Match', etag).expect(304);
});

test('the accent and the texts of the button are in elements.js, and what only the dialog needs is in its file and in site.json', async () => {
  const help = { url: '/wallets' };
  const { origin } = await startSite(base, {
    payment: undefined,
    clientAmount: { min: 1, max: 9, currency: 'eur' },
    button: {
      name: 'A & B',
      logo: '/$&.svg',
      accent: '#fff',
      help,
      texts: { en: { busy: 'Wait', paid: 'Thanks' }, ar: {} },
    },
  });
  const { text } = await request(origin).get('/intent/v1/intent-dialog.js').expect(200);
  const dialog = { name: 'A & B', logo: '/$&.svg', help, currency: 'eur', texts: { en: { paid: 'Thanks' } } };
  expect(text.startsWith(`const intentDialog = ${JSON.stringify(dialog)};\n`)).toBe(true);
  const { body } = await request(origin).get('/intent/v1/site.json').expect(200);
  expect(body).toMatchObject({ dialog, texts: { en: { busy: 'Wait' }, ar: {} } });
  expect(body.css).toBe(':host{--_accent:var(--intent-accent,#fff);--_on-accent:var(--intent-on-accent,#112)}');
  expect((await request(origin).get(path)).text).not.toContain('/wallets');
});

test('every built file of the button is served, except those for bundles', () => {
  const built = readdirSync(new URL('../../dist/browser/', import.meta.url));
  const served = built.filter((name) => !/^(?:load-site|react)\./.test(name));
  expect(served.filter(isElementFile)).toEqual(served);
  expect(isElementFile('load-site.js')).toBe(false);
});

test('elements.js loads its scripts by names that change with their content, which browsers keep for a year', async () => {
  const { origin } = await startSite(base);
  const { text } = await request(origin).get(path).expect(200);
  const names = [...text.matchAll(/import\(.\.\/([\w-]+\.[\w-]{8}\.js).\)/g)].map(([, name]) => `${name}`);
  expect(names.map((name) => name.split('.')[0])).toEqual([
    'intent-dialog',
    'de',
    'es',
    'fr',
    'ja',
    'portable-ed25519',
  ]);
  for (const name of names) {
    const { headers, text: script } = await request(origin).get(`/intent/v1/${name}`).expect(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script).toBe((await request(origin).get(`/intent/v1/${name.replace(/\.[\w-]{8}/, '')}`)).text);
  }
});

test('a script of another version is answered with the own one, which browsers do not keep', async () => {
  const { origin } = await startSite(base);
  const current = await request(origin).get('/intent/v1/de.js').expect(200);
  const other = await request(origin).get('/intent/v1/de.AAAAAAAA.js').expect(200).expect('cache-control', 'no-cache');
  expect(other.text).toBe(current.text);
  for (const name of ['elements.AAAAAAAA.js', 'load-site.AAAAAAAA.js', 'de.AAAAAAAA.js.map', 'de.AAAAAAA.js']) {
    await request(origin).get(`/intent/v1/${name}`).expect(404);
  }
});

test('the other files of the element are served, and no other files', async () => {
  const { origin } = await startSiteWithSimulator({
    after: (app) => app.get('/intent/v1/own.js', (_req, res) => void res.send('own')),
  });
  for (const name of ['intent-dialog', 'portable-ed25519']) {
    const { text } = await request(origin)
      .get(`/intent/v1/${name}.js`)
      .expect(200)
      .expect('content-type', /javascript/);
    expect(text).not.toContain('intentSite =');
  }
  for (const name of ['elements', '..%2felements.js', 'elements.d.ts', '__proto__']) {
    await request(origin).get(`/intent/v1/${name}`).expect(404);
  }
  const { text } = await request(origin).get('/intent/v1/own.js').expect(200);
  expect(text).toBe('own');
  await request(origin).post(path).expect(405).expect('allow', 'GET');
});

test('elements.js answers 404 when its route is disabled', async () => {
  const { origin } = await startSite({ ...base, routes: { elements: false } });
  await request(origin).get(path).expect(404);
});
