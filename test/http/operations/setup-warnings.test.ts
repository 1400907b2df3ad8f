import request from 'supertest';
import { canaryOf } from '../../support/runner/secret-forms.js';
import { post } from '../../support/sites/post.js';
import { type ExpressFactory, expressVersions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const base = {
  sequencer: { url: 'https://sequencer.example', transport: countingTransport() },
  secret: canaryOf('cookies'),
};

describe.each(Object.entries(expressVersions))('under a mount path on %s', (_name, factory) => {
  test('the warning depends on the key file at the root, and its second fix serves that file', async () => {
    const { app, origin, router, log } = await startSite({ ...base, factory, mountPath: '/shop' });
    await request(origin).get('/shop/session').expect(200);
    expect(log.text).toContain('Unless the site serves the key file at its root, wallets cannot find it');
    expect(log.text).toContain("app.get('/.well-known/service-payments.json', router)");
    app.get('/.well-known/service-payments.json', router);
    const { body } = await request(origin).get('/.well-known/service-payments.json').expect(200);
    expect(body.public_keys).toHaveLength(1);
  });
});

describe.each<[string, ExpressFactory, string, string]>([
  ['Express 5', expressVersions['Express 5'], '', '/*path'],
  ['Express 4', expressVersions['Express 4'], '', '*'],
  ['Express 5 below a path', expressVersions['Express 5'], '/shop', '/shop/*path'],
  ['Express 4 below a path', expressVersions['Express 4'], '/shop', '/shop/*'],
])('under a wildcard on %s', (_name, factory, prefix, mountPath) => {
  test.each([
    ['/intent', { login: false }],
    ['/intent/v1/elements.js', { login: false }],
    ['/session', {}],
    ['/pay', { login: false, routes: { intent: '/pay' } }],
  ])('a request for %s logs one warning with the fix', async (path, options) => {
    const { origin, log } = await startSite({ ...base, ...options, factory, mountPath });
    const whole = prefix + path;
    for (const each of [`${prefix}/about`, whole, whole]) await request(origin).get(each).expect(404);
    expect(log.lines).toEqual([
      expect.stringMatching(
        `The route "${whole}" was not found, because .* a wildcard .* Call app\\.use\\(router\\) without a path\\.`,
      ),
    ]);
  });
});

test.each(['/shop/intent', '/intent/session', '/intent/x', '/shop', '/intention', '/false'])(
  'without logins, under a mount path such as /shop or /intent, a request for %s logs nothing',
  async (path) => {
    const { origin, log } = await startSite(base, { login: false, mountPath: `/${path.split('/')[1]}` });
    await request(origin).get(path);
    expect(log.lines).toEqual([]);
  },
);

/** Without the line that production logs when it is ready. */
const warningsIn = ({ lines }: { readonly lines: readonly string[] }) =>
  lines.filter((line) => !line.startsWith('warn express-intents: ready. '));

describe('in production', () => {
  const nodeEnv = process.env.NODE_ENV;
  beforeEach(() => {
    process.env.NODE_ENV = 'production';
  });
  afterEach(() => {
    process.env.NODE_ENV = nodeEnv;
  });

  test('http is logged once with the fix, and cookies have Secure and the __Host- prefix', async () => {
    const { origin, log } = await startSite({ ...base, payment: () => ({ amount: 5, currency: 'usd' }) });
    const created = await post(origin).set('Host', 'shop.example').send({}).expect(201);
    expect(created.get('Set-Cookie')).toEqual([
      expect.stringMatching(/^__Host-intent=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    await request(origin).get('/session').expect(200);
    expect(warningsIn(log)).toHaveLength(1);
    expect(log.text).toContain("app.set('trust proxy', 1)");
  });

  test.each<[string, Record<string, string>, number]>([
    ['to localhost', { Host: 'localhost:3000' }, 0],
    ['to the domain', { Host: 'shop.example' }, 1],
    ['through a proxy on this machine', { 'X-Forwarded-Proto': 'http' }, 1],
    ['of a page behind a proxy that changes Host', { Referer: 'https://shop.example/cart' }, 1],
  ])('a request over http %s is logged if a visitor may have sent it', async (_name, headers, lines) => {
    const { origin, log } = await startSite(base);
    await request(origin).get('/session').set(headers).expect(200);
    expect(warningsIn(log)).toHaveLength(lines);
  });

  const forwarded = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' };

  test('an untrusted proxy is logged once, because its visitors share one address', async () => {
    const { origin, log } = await startSite(base);
    for (let n = 0; n < 3; n += 1) await request(origin).get('/session').set(forwarded).expect(200);
    expect(log.lines.filter((line) => line.includes('X-Forwarded-For'))).toEqual([
      expect.stringMatching(/all visitors then share one rate limit.*app\.set\('trust proxy', 1\)/),
    ]);
  });

  test('trust proxy: true is logged once, because clients can claim any address', async () => {
    const { origin, log } = await startSite({ ...base, before: (app) => app.set('trust proxy', true) });
    for (let n = 0; n < 3; n += 1) await request(origin).get('/session').set(forwarded).expect(200);
    expect(warningsIn(log)).toEqual([
      expect.stringMatching(
        /'trust proxy' is true\. Unless the first proxy overwrites X-Forwarded-For.*number of proxies/,
      ),
    ]);
  });

  test.each([1, 'loopback', () => true])('trust proxy: %p is not logged', async (trust) => {
    const { origin, log } = await startSite({ ...base, before: (app) => app.set('trust proxy', trust) });
    await request(origin).get('/session').set(forwarded).expect(200);
    expect(warningsIn(log)).toEqual([]);
  });
});
