import { jest } from '@jest/globals';
import compression from 'compression';
import type { Express } from 'express';
import request from 'supertest';
import type { IntentEvent } from '../../../src/sequencer/watch/intent-event.js';
import { eventually } from '../../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../../support/sites/event-site.js';
import { post } from '../../support/sites/post.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { expressVersions, startSiteWithSimulator } from '../../support/sites/site.js';
import { submitted } from '../../support/transports/status-transport.js';

// GET /intent/:id/events for one browser: frames, headers, order, and reconnects.

const path = `/intent/${intentId}/events`;
const scannedEvent: IntentEvent = { kind: 'code_scanned', id: 'm1', timestampMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6) };
const rejectedEvent: IntentEvent = { kind: 'client_rejected_payment', id: 'm2' };
const submittedEvent: IntentEvent = { kind: 'intent_submitted', id: 'intent_submitted' };
const pendingFrame = 'event: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n';
const submittedFrame = 'event: status\ndata: {"exists":true,"code_scanned":true,"intent_submitted":true}\n\n';
const scannedFrame = 'event: code_scanned\nid: m1\ndata: {"id":"m1","timestamp":"2026-01-02T03:04:05.006Z"}\n\n';
const rejectedFrame = 'event: client_rejected_payment\nid: m2\ndata: {"id":"m2"}\n\n';
const terminalFrame = 'event: intent_submitted\nid: intent_submitted\ndata: {"id":"intent_submitted"}\n\n';
const end = '0\r\n\r\n';

const watching = ({ watch }: EventSite): Promise<void> => eventually('one watch', () => watch.running === 1);
/** The frames of a stream, without the reconnection time at its start. */
const framesOf = ({ body }: { body: string }): string => body.replace(/^retry.*\n\n/, '');

describe.each(Object.entries(expressVersions))('GET /intent/:id/events on %s (interface 6)', (_name, factory) => {
  test('sends each event at once, in the bytes of the standard', async () => {
    const site = await startEventSite({ factory });
    const stream = new RawStream(site.origin, path);
    await stream.has('event: status');
    expect(stream.body).toMatch(/^retry: (?:[7-9]\d{2}|1[0-5]\d{2})\n\n/);
    expect(framesOf(stream)).toBe(pendingFrame);
    await watching(site);
    site.watch.emit(intentId, scannedEvent);
    await stream.has('\nid: m1\n');
    site.watch.emit(intentId, rejectedEvent);
    site.watch.emit(intentId, submittedEvent);
    await stream.has(end);
    expect(framesOf(stream)).toBe(pendingFrame + scannedFrame + rejectedFrame + terminalFrame);
  });

  test('sends headers that prevent caching, buffering and compression, and the security headers', async () => {
    const { origin } = await startEventSite({ factory });
    const stream = new RawStream(origin, path);
    await stream.has('event: status');
    const lines = stream.head.split('\r\n');
    expect(lines[0]).toBe('http/1.1 200 ok');
    expect(lines).toEqual(
      expect.arrayContaining([
        'content-type: text/event-stream; charset=utf-8',
        'cache-control: no-cache, no-store, no-transform',
        'x-accel-buffering: no',
        'x-content-type-options: nosniff',
        "content-security-policy: default-src 'none';frame-ancestors 'none'",
        'transfer-encoding: chunked',
      ]),
    );
    expect(stream.head).not.toMatch(/content-length|x-powered-by|set-cookie|access-control/);
  });

  test('answers the whole stream at once, without a watch, when the intent was submitted before', async () => {
    const { origin, transport, watch } = await startEventSite({ factory });
    transport.answerWith(submitted);
    const { text } = await request(origin).get(path).expect(200);
    expect(framesOf({ body: text })).toBe(submittedFrame + terminalFrame);
    expect(watch.started).toEqual([]);
  });

  test('answers 204 to a browser that has the last event, without a call to the sequencer', async () => {
    const { origin, transport } = await startEventSite({ factory });
    const answer = await request(origin).get(path).set('Last-Event-ID', 'intent_submitted').expect(204);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(transport.callCount).toBe(0);
  });

  test.each([
    ['is too short', '/intent/abc/events'],
    ['contains a line break', `/intent/${intentId}%0d%0aX-Evil:%201/events`],
  ])('answers 400 when the id %s', async (_what, wrong) => {
    const { origin, context, transport } = await startEventSite({ factory });
    const { body, headers } = await request(origin).get(wrong).expect(400);
    expect(body).toMatchObject({ code: 'invalid_id', status: 400 });
    expect([headers['content-type'], headers['x-evil']]).toEqual(['application/problem+json', undefined]);
    expect([transport.callCount, context.events.size, context.connectionLimiter.open]).toEqual([0, 0, 0]);
  });

  test('answers HEAD with headers only and without counting a stream, and refuses other methods', async () => {
    const { origin, context, transport } = await startEventSite({ factory });
    const { headers, text } = await request(origin).head(path).expect(200);
    expect([headers['content-type'], text]).toEqual(['text/event-stream; charset=utf-8', undefined]);
    const refused = await post(origin, path).expect(405);
    expect([refused.body.code, refused.headers.allow]).toEqual(['method_not_allowed', 'GET']);
    expect([transport.callCount, context.events.size, context.connectionLimiter.open]).toEqual([0, 0, 0]);
  });

  test('is not compressed behind the compression middleware, and each event arrives at once', async () => {
    const site = await startEventSite({ factory, before: (app) => app.use(compression({ threshold: 0 })) });
    const stream = new RawStream(site.origin, path, ['Accept-Encoding: gzip, br']);
    await stream.has('event: status');
    await watching(site);
    site.watch.emit(intentId, scannedEvent);
    await stream.has('id: m1\n');
    expect(stream.head).not.toContain('content-encoding');
    // The middleware compresses other responses. Otherwise this test could not fail.
    const { headers } = await request(site.origin).get(`/status/${intentId}`).set('Accept-Encoding', 'gzip');
    expect(headers['content-encoding']).toBe('gzip');
  });

  test('flushes a middleware that compresses in spite of no-transform', async () => {
    const flush = jest.fn();
    const stripNoTransform = (app: Express): void => {
      app.use(compression({ threshold: 0 }));
      app.use((_req, res, next) => {
        const { writeHead } = res;
        res.writeHead = ((status: number, headers: object) =>
          writeHead.call(res, status, { ...headers, 'Cache-Control': 'no-store' })) as typeof writeHead;
        const original = res.flush;
        res.flush = () => {
          flush();
          original.call(res);
        };
        next();
      });
    };
    const site = await startEventSite({ factory, before: stripNoTransform });
    site.transport.answerWith(submitted);
    const { text, headers } = await request(site.origin).get(path).set('Accept-Encoding', 'gzip').expect(200);
    expect(headers['content-encoding']).toBe('gzip');
    expect(text).toContain('id: intent_submitted');
    // Once for the reconnection time, the status and the event.
    expect(flush.mock.calls.length).toBeGreaterThanOrEqual(3);
  });
});

test('the route can be renamed and disabled', async () => {
  const renamed = await startSiteWithSimulator({ routes: { events: '/pay' } });
  await request(renamed.origin).head(`/pay/${intentId}/events`).expect(200);
  const off = await startSiteWithSimulator({ routes: { events: false } });
  await request(off.origin).head(path).expect(404);
});

describe('a reconnecting event stream', () => {
  test.each([
    ['that of an event, receives the events after it', ['Last-Event-ID: m1'], rejectedFrame],
    ['none, receives all events', [], scannedFrame + rejectedFrame],
    ['unknown, receives all events', ['Last-Event-ID: never-sent'], scannedFrame + rejectedFrame],
    ['long, receives all events', [`Last-Event-ID: ${'x'.repeat(8_000)}`], scannedFrame + rejectedFrame],
    ['a field, receives all events', ['Last-Event-ID: m1 event: intent_submitted'], scannedFrame + rejectedFrame],
  ])('whose Last-Event-ID is %s', async (_what, headers, frames) => {
    const site = await startEventSite();
    const first = new RawStream(site.origin, path);
    await watching(site);
    site.watch.emit(intentId, scannedEvent);
    site.watch.emit(intentId, rejectedEvent);
    await first.has('id: m2\n');
    const stream = new RawStream(site.origin, path, headers);
    await stream.has('id: m2\n');
    expect(stream.head).toMatch(/^http\/1.1 200 /);
    expect(framesOf(stream)).toBe(pendingFrame + frames);
  });
});

test.each(['write', 'end'] as const)('a middleware that throws in %s() ends its own stream only', async (method) => {
  const site = await startEventSite({
    before: (app) =>
      app.use((req, res, next) => {
        const original = res[method];
        const failing = (chunk?: Buffer): unknown => {
          if (!chunk || chunk.includes('code_scanned\n')) throw new Error('broken');
          return Reflect.apply(original, res, [chunk, 'utf8']);
        };
        if (req.query.broken) Object.assign(res, { [method]: failing });
        next();
      }),
  });
  const broken = new RawStream(site.origin, `${path}?broken=1`);
  await broken.has('event: status');
  const intact = new RawStream(site.origin, path);
  await intact.has('event: status');
  await watching(site);
  site.watch.emit(intentId, scannedEvent);
  await intact.has('id: m1\n');
  await eventually('the broken stream is gone', () => method === 'end' || site.context.connectionLimiter.open === 1);
  site.watch.emit(intentId, submittedEvent);
  await intact.has(end);
  await eventually('both streams are gone', () => site.context.connectionLimiter.open === 0);
});

test('one interval sends a comment to all streams every 15 seconds, also to those that wait for the status', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  // Timers of an earlier test may still run. All intervals belong to this test.
  const setInterval = jest.spyOn(globalThis, 'setInterval');
  const clearInterval = jest.spyOn(globalThis, 'clearInterval');
  try {
    const site = await startEventSite();
    const streams = [path, path, `/intent/${otherIntentId}/events`].map((to) => new RawStream(site.origin, to));
    for (const stream of streams) await stream.has('event: status');
    site.pass(250);
    site.transport.answerWith('nothing');
    const waiting = new RawStream(site.origin, path);
    await waiting.has('retry:');
    expect(setInterval.mock.calls.map(([, delayMs]) => delayMs)).toEqual([15_000]);
    jest.advanceTimersByTime(14_999);
    for (const stream of streams) expect(stream.body).not.toMatch(/^:$/m);
    jest.advanceTimersByTime(1);
    for (const stream of [...streams, waiting]) await eventually('a comment', () => /\n:\n\n$/.test(stream.body));
    site.context.events.close();
    expect(clearInterval).toHaveBeenCalledWith(setInterval.mock.results[0]?.value);
  } finally {
    jest.useRealTimers();
  }
});
