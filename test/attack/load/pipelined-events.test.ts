import type { Socket } from 'node:net';
import type { Response } from 'express';
import { eventually } from '../../support/eventually.js';
import { type EventSite, type EventSiteOptions, intentId, startEventSite } from '../../support/sites/event-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';

const path = `/intent/${intentId}/events`;

interface ObservedSite extends EventSite {
  readonly responses: readonly Response[];
  readonly sockets: readonly Socket[];
}

/** An event site that records its responses and sockets. */
async function startObservedSite({ before, ...options }: EventSiteOptions = {}): Promise<ObservedSite> {
  const [responses, sockets]: [Response[], Socket[]] = [[], []];
  const site = await startEventSite({
    ...options,
    before: (app) => {
      app.use((req, res, next) => {
        responses.push(res);
        if (!sockets.includes(req.socket)) sockets.push(req.socket);
        next();
      });
      before?.(app);
    },
  });
  return { ...site, responses, sockets };
}

/** Opens a stream and pipelines `count` requests for streams behind it. */
async function pipeline(site: ObservedSite, count: number): Promise<RawStream> {
  const stream = new RawStream(site.origin, path);
  await stream.has('\r\n\r\n');
  const before = site.responses.length;
  for (let n = 0; n < count; n += 1) stream.request(path);
  await eventually('the router has every request', () => site.responses.length === before + count);
  return stream;
}

async function expectNothingHeld({ context }: EventSite): Promise<void> {
  const { connectionLimiter, running } = context;
  await eventually(
    'no stream and no request is held',
    () => connectionLimiter.open + connectionLimiter.trackedKeys + running.size === 0,
  );
}

describe('event streams pipelined behind an open stream', () => {
  test('count as streams of their address', async () => {
    const site = await startObservedSite();
    await pipeline(site, 24);
    expect(site.context.connectionLimiter.open).toBe(20);
    const other = new RawStream(site.origin, path);
    await other.has('\r\n\r\n');
    expect(other.head).toMatch(/^http\/1.1 429 /);
  });

  test('are released when their connection ends', async () => {
    const site = await startObservedSite();
    for (let n = 0; n < 5; n += 1) {
      const stream = await pipeline(site, 30);
      stream.socket.destroy();
      await expectNothingHeld(site);
    }
    for (const response of site.responses) expect(response.listenerCount('socket')).toBe(0);
  });

  test('close their connection when more than 64 requests wait', async () => {
    const site = await startObservedSite({ streamLimits: { perAddress: 100 } });
    const waiting = await pipeline(site, 64);
    for (const target of [path, '/intent/v1/elements.js', '/no-route-of-ours']) {
      const stream = await pipeline(site, 0);
      // One write: Node stops reading when 16 KiB of responses wait.
      stream.socket.write(`GET ${target} HTTP/1.1\r\nHost: site\r\n\r\n`.repeat(65));
      await eventually('the connection has ended', () => stream.socket.destroyed);
    }
    expect(waiting.socket.destroyed).toBe(false);
    waiting.request(path);
    await eventually('the connection has ended', () => waiting.socket.destroyed);
    await expectNothingHeld(site);
  });

  test('are the only reason to close: a connection may pipeline hundreds of other requests', async () => {
    const site = await startObservedSite();
    const stream = new RawStream(site.origin, `/status/${intentId}`);
    for (let n = 1; n < 300; n += 1) stream.request(`/status/${intentId}`);
    await eventually('all are answered', () => stream.text.match(/HTTP\/1.1 200 OK/g)?.length === 300);
  });
});

describe('event streams whose request was already answered', () => {
  test('by a timeout middleware hold nothing', async () => {
    const site = await startObservedSite({
      before: (app) =>
        app.use((_req, res, next) => {
          res.once('close', () => next());
          res.status(503).end();
        }),
    });
    const stream = new RawStream(site.origin, path);
    for (let n = 0; n < 9; n += 1) stream.request(path);
    await eventually('each is answered', () => stream.text.match(/HTTP\/1.1 503 /g)?.length === 10);
    await expectNothingHeld(site);
    expect(site.transport.callCount).toBe(0);
    expect(site.log.lines).toEqual([]);
  });

  test('before their turn on the connection hold nothing', async () => {
    let isTimedOut = false;
    const site = await startObservedSite({
      before: (app) =>
        app.use((_req, res, next) => {
          if (isTimedOut) res.status(503).end();
          next();
        }),
    });
    const stream = await pipeline(site, 0);
    isTimedOut = true;
    for (let n = 0; n < 9; n += 1) stream.request(path);
    await eventually('the router has every request', () => site.responses.length === 10);
    await eventually(
      'one stream is held',
      () => site.context.connectionLimiter.open === 1 && site.context.running.size === 0,
    );
    stream.socket.destroy();
    await expectNothingHeld(site);
    expect(site.log.lines).toEqual([]);
  });
});
