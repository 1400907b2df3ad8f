import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { EventSource } from 'eventsource';
import { RunningRequests } from '../../src/http/running-requests.js';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { intentId, startEventSite } from '../support/sites/event-site.js';
import { generateJwtKey } from '../support/sites/service-jwt.js';
import { expressVersions, type Site, startSiteWithSequencer } from '../support/sites/site.js';

/** A hook that waits until it is told to go on. */
function slowHook() {
  const gate = new EventTarget();
  const isAsked = once(gate, 'asked');
  return {
    isAsked,
    goOn: () => gate.dispatchEvent(new Event('go')),
    payment: async () => {
      const goes = once(gate, 'go');
      gate.dispatchEvent(new Event('asked'));
      await goes;
      return { amount: '4.50', currency: 'usd' };
    },
  };
}

test('whoever has come before the router is closed gets the answer', async () => {
  const hook = slowHook();
  const { origin, router } = await startSiteWithSequencer({ payment: hook.payment });
  const answer = new Browser(origin).send('POST', '/intent', { mode: 'payment' });
  await hook.isAsked;
  const closed = router.close();
  expect((await router.health()).status).toBe('down');
  hook.goOn();
  const { status, headers } = await answer;
  // Nothing more is to come over its connection.
  expect([status, headers.get('connection')]).toEqual([201, 'close']);
  await closed;
});

describe.each(Object.entries(expressVersions))('whoever comes afterwards, on %s', (_name, factory) => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    site = await startSiteWithSequencer({
      ...{ factory, webhook: true, webhookPublicKey: generateJwtKey().publicKey, origin: 'https://shop.example' },
      after: (app) => app.get('/of-the-app', (_req, res) => void res.send('still here')),
    });
  });
  beforeEach(() => {
    browser = new Browser(site.origin, new Map(), 'https://shop.example');
  });

  test('finds everything as it was before', async () => {
    const { status, headers } = await browser.send('GET', '/of-the-app');
    expect([status, headers.get('connection')]).toEqual([200, 'keep-alive']);
    await site.router.close();
  });

  test.each<[string, string, object | undefined]>([
    ['POST', '/intent', { mode: 'payment' }],
    ['GET', `/status/${intentId}`, undefined],
    ['POST', '/session', { id: intentId }],
    ['POST', '/intent/webhook', {}],
  ])('is refused, and sent to another process: %s %s', async (method, path, body) => {
    const { status, headers, body: problem } = await browser.send(method, path, body);
    expect([status, problem.code]).toEqual([503, 'closing']);
    expect([headers.get('retry-after'), headers.get('connection')]).toEqual(['1', 'close']);
    // It is as it should be, and may be many times a second.
    expect(site.log.text).toBe('');
  });

  test('is refused with a large body as well', async () => {
    const { status } = await browser.send('POST', '/intent', { mode: 'payment', order: 'x'.repeat(3_000_000) });
    expect(status).toBe(503);
  });

  test.each(['/of-the-app', '/.well-known/service-payments.json', '/session', '/nowhere'])(
    'is answered, and sent to another process for the next: GET %s',
    async (path) => {
      const { status, headers } = await browser.send('GET', path);
      expect([status, headers.get('connection')]).toEqual([path === '/nowhere' ? 404 : 200, 'close']);
    },
  );

  test('and listens is told when to come back, since after a refusal no browser does', async () => {
    const { status, headers, body } = await browser.send('GET', `/intent/${intentId}/events`);
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    expect(body.text).toMatch(/^retry: \d{3,4}\n\n$/);
  });
});

test('an answer that the app has begun before the router is ended by the app all the same', async () => {
  const { origin, router } = await startSiteWithSequencer({
    before: (app) =>
      app.use((_req, res, next) => {
        res.write('begun ');
        next();
      }),
    after: (app) => app.get('/slow', (_req, res) => void res.end('and ended')),
  });
  await router.close();
  const answer = await fetch(`${origin}/slow`);
  expect([answer.status, await answer.text()]).toEqual([200, 'begun and ended']);
});

test('an EventSource that a process ends, and that comes to it once more, comes back', async () => {
  const site = await startEventSite();
  jest.spyOn(Math, 'random').mockReturnValue(-0.13);
  const source = new EventSource(`${site.origin}/intent/${intentId}/events`);
  let ends = 0;
  source.addEventListener('error', () => {
    ends += 1;
  });
  await eventually('it listens', () => site.watch.running === 1);
  site.context.events.close();
  await eventually('it comes back', () => ends >= 3);
  expect(source.readyState).toBe(EventSource.CONNECTING);
  source.close();
});

test('those whose streams end together do not come back together', async () => {
  const { origin, context } = await startEventSite({ connectionLimits: { perAddress: 100 } });
  const streams = await Promise.all(Array.from({ length: 60 }, () => fetch(`${origin}/intent/${intentId}/events`)));
  await eventually('all listen', () => context.connectionLimiter.open === 60);
  context.events.close();
  const texts = await Promise.all(streams.map((stream) => stream.text()));
  // The last word counts.
  const retriesMs = texts.map((text) => Number([...text.matchAll(/^retry: (\d+)$/gm)].at(-1)?.[1]));
  expect(Math.min(...retriesMs)).toBeGreaterThanOrEqual(250);
  expect(Math.max(...retriesMs)).toBeLessThanOrEqual(2_000);
  // In no fifth of that time more than half of them.
  for (let fromMs = 250; fromMs < 2_000; fromMs += 350) {
    expect(retriesMs.filter((ms) => ms >= fromMs && ms < fromMs + 350).length).toBeLessThan(30);
  }
});

describe('requests that run', () => {
  const answer = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

  test('are waited for, all of them', async () => {
    const running = new RunningRequests();
    const [one, other] = [answer(), answer()];
    running.begin(one);
    running.begin(other);
    let isIdle = false;
    const idle = running.idle(10_000).then(() => {
      isIdle = true;
    });
    running.end(one);
    await Promise.resolve();
    expect(isIdle).toBe(false);
    running.end(other);
    await idle;
  });

  test('are not waited for where there are none, and not for ever', async () => {
    const running = new RunningRequests();
    await running.idle(10_000);
    running.begin(answer());
    await running.idle(1);
  });

  test('end their connections, but for those whose head is out', () => {
    const running = new RunningRequests();
    const [open, late] = [answer(), answer()];
    running.begin(open);
    running.begin(late);
    late.writeHead(200);
    running.closeConnections();
    expect([open.getHeader('connection'), late.getHeader('connection')]).toEqual(['close', undefined]);
  });

  test('over HTTP/2 are told nothing of their connection, which Node would warn of', () => {
    const request = Object.assign(new IncomingMessage(new Socket()), { httpVersionMajor: 2 });
    const running = new RunningRequests();
    const open = new ServerResponse(request);
    running.begin(open);
    running.closeConnections();
    expect(open.getHeader('connection')).toBeUndefined();
  });
});
