import { once } from 'node:events';
import { rawRequest, sendRaw } from '../attack/support/raw-request.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { intentId, startEventSite } from '../support/sites/event-site.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite } from '../support/sites/ledger-site.js';
import { generateJwtKey } from '../support/sites/service-jwt.js';
import { expressVersions, type Site, startSiteWithSimulator } from '../support/sites/site.js';
import { holdTimeouts } from '../support/timeouts.js';

/** A hook that runs until `resume`. */
function slowHook() {
  const gate = new EventTarget();
  const started = once(gate, 'started');
  return {
    started,
    resume: () => gate.dispatchEvent(new Event('go')),
    payment: async () => {
      const resumed = once(gate, 'go');
      gate.dispatchEvent(new Event('started'));
      await resumed;
      return { amount: '4.50', currency: 'usd' };
    },
  };
}

test('router.close() waits for a request that is in progress', async () => {
  const hook = slowHook();
  const { origin, router } = await startSiteWithSimulator({ payment: hook.payment });
  const answer = new Browser(origin).send('POST', '/intent', { mode: 'payment' });
  await hook.started;
  const closed = router.close();
  expect((await router.health()).status).toBe('down');
  hook.resume();
  const { status, headers } = await answer;
  // Its connection is closed after the response.
  expect([status, headers.get('connection')]).toEqual([201, 'close']);
  await closed;
});

describe.each(Object.entries(expressVersions))('after router.close(), on %s, a request', (_name, factory) => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    site = await startSiteWithSimulator({
      ...{ factory, webhook: { publicKeys: [generateJwtKey().publicKey] }, origin: 'https://shop.example' },
      after: (app) => app.get('/of-the-app', (_req, res) => void res.send('still here')),
    });
  });
  beforeEach(() => {
    browser = new Browser(site.origin, new Map(), 'https://shop.example');
  });

  test('before it keeps its connection', async () => {
    const { status, headers } = await browser.send('GET', '/of-the-app');
    expect([status, headers.get('connection')]).toEqual([200, 'keep-alive']);
    await site.router.close();
  });

  test.each<[string, string, object | undefined]>([
    ['POST', '/intent', { mode: 'payment' }],
    ['GET', `/status/${intentId}`, undefined],
    ['POST', '/session', { id: intentId }],
    ['POST', '/intent/webhook', {}],
  ])('is rejected with 503 and Connection: close: %s %s', async (method, path, body) => {
    const { status, headers, body: problem } = await browser.send(method, path, body);
    expect([status, problem.code]).toEqual([503, 'closing']);
    expect([headers.get('retry-after'), headers.get('connection')]).toEqual(['1', 'close']);
    // This is expected, and may happen many times a second.
    expect(site.log.text).toBe('');
  });

  test('with a large body is rejected as well', async () => {
    const headers = ['Host: shop.example', 'Origin: https://shop.example', 'Content-Type: application/json'];
    // The start of a body: a client that still writes while the server closes the connection may lose the response.
    const start = '{"mode":"payment","order":"';
    const request = rawRequest('POST', '/intent', [...headers, 'Content-Length: 3000000'], start);
    expect(await sendRaw(site.origin, request)).toMatchObject({
      status: 503,
      body: expect.stringContaining('closing'),
    });
  });

  test.each(['/of-the-app', '/.well-known/service-payments.json', '/session', '/nowhere'])(
    'is answered with Connection: close: GET %s',
    async (path) => {
      const { status, headers } = await browser.send('GET', path);
      expect([status, headers.get('connection')]).toEqual([path === '/nowhere' ? 404 : 200, 'close']);
    },
  );

  test('for an event stream receives a retry time and ends, because browsers do not reconnect after a 503', async () => {
    const { status, headers, body } = await browser.send('GET', `/intent/${intentId}/events`);
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    expect(body.text).toMatch(/^retry: \d{3,4}\n\n$/);
  });
});

test('after router.close() a response that the app has started is completed', async () => {
  const { origin, router } = await startSiteWithSimulator({
    before: (app) =>
      app.use((_req, res, next) => {
        res.write('started ');
        next();
      }),
    after: (app) => app.get('/slow', (_req, res) => void res.end('and ended')),
  });
  await router.close();
  const answer = await fetch(`${origin}/slow`);
  expect([answer.status, await answer.text()]).toEqual([200, 'started and ended']);
});

/** A ledger site with a health route and a route of the app that reads an intent. */
async function startDrainSite() {
  const site: LedgerSite = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    routes: { health: '/healthz' },
    after: (app) =>
      app.get('/thanks/:id', async (req, res) => {
        const intent = await site.router.intents.find(req.params.id ?? '');
        res.send(`The payment is ${intent?.state}.`);
      }),
  });
  const browser = new Browser(site.origin);
  const health = async () => (await browser.send('GET', '/healthz')).status;
  return { ...site, browser, health };
}

test('during the drain of router.close() the health check fails, and all other routes work', async () => {
  // A busy machine may need more than the 0.8 s that a health check waits for the database.
  holdTimeouts(800);
  const { router, browser, health } = await startDrainSite();
  expect(await health()).toBe(200);
  const closed = router.close({ drainMs: 600_000 });
  expect(await router.health()).toMatchObject({ status: 'down', checks: { process: { reason: 'closing' } } });
  expect(await health()).toBe(503);

  const created = await browser.send('POST', '/intent', { mode: 'payment' });
  expect([created.status, created.headers.get('connection')]).toEqual([201, 'close']);
  const id = intentIdOf(String(created.body.client_secret));
  expect((await browser.send('GET', `/status/${id}`)).status).toBe(200);
  const thanks = await browser.send('GET', `/thanks/${id}`);
  expect([thanks.status, thanks.headers.get('connection'), thanks.body.text]).toEqual([
    200,
    'close',
    'The payment is created.',
  ]);

  // Another call ends the drain.
  await Promise.all([router.close({ drainMs: 600_000 }), closed]);
  expect(await health()).toBe(503);
  expect((await browser.send('POST', '/intent', { mode: 'payment' })).body.code).toBe('closing');
  expect((await browser.send('GET', `/thanks/${id}`)).status).toBe(503);
});

test('router.close() closes after drainMs, not before', async () => {
  const expireDrain = holdTimeouts(77_000);
  const { router, origin } = await startSiteWithSimulator();
  let isClosed = false;
  const closed = router.close({ drainMs: 77_000 }).then(() => {
    isClosed = true;
  });
  expect((await new Browser(origin).send('POST', '/intent', { mode: 'payment' })).status).toBe(201);
  expect(isClosed).toBe(false);
  expireDrain();
  await closed;
  expect((await new Browser(origin).send('POST', '/intent', { mode: 'payment' })).body.code).toBe('closing');
});

test.each([-1, 1.5, Number.NaN, 2 ** 31, '5000' as unknown as number])(
  'router.close() rejects drainMs %p and stays open',
  async (drainMs) => {
    const { router, origin } = await startSiteWithSimulator();
    await expect(router.close({ drainMs })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('`drainMs` must be a whole number of milliseconds from 0 to 2147483647'),
    });
    expect((await new Browser(origin).send('POST', '/intent', { mode: 'payment' })).status).toBe(201);
  },
);

test('the retry times of streams that end together are spread', async () => {
  const { origin, context } = await startEventSite({ streamLimits: { perAddress: 100 } });
  const streams = await Promise.all(Array.from({ length: 60 }, () => fetch(`${origin}/intent/${intentId}/events`)));
  await eventually('all streams are open', () => context.connectionLimiter.open === 60);
  context.events.close();
  const texts = await Promise.all(streams.map((stream) => stream.text()));
  // The last retry field counts.
  const retriesMs = texts.map((text) => Number([...text.matchAll(/^retry: (\d+)$/gm)].at(-1)?.[1]));
  expect(Math.min(...retriesMs)).toBeGreaterThanOrEqual(250);
  expect(Math.max(...retriesMs)).toBeLessThanOrEqual(2_000);
  // No fifth of that range has more than half of them.
  for (let fromMs = 250; fromMs < 2_000; fromMs += 350) {
    expect(retriesMs.filter((ms) => ms >= fromMs && ms < fromMs + 350).length).toBeLessThan(30);
  }
});
