import { jest } from '@jest/globals';
import compression from 'compression';
import type { Express, Response } from 'express';
import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../support/sites/event-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { expressVersions } from '../support/sites/site.js';
import { submitted } from '../support/transports/status-transport.js';

const path = `/intent/${intentId}/events`;

const watching = ({ watch }: EventSite): Promise<void> => eventually('a watch', () => watch.running === 1);

describe.each(Object.entries(expressVersions))('behind compression, on %s', (_name, factory) => {
  test('the stream is not compressed, and each event comes at once', async () => {
    const site = await startEventSite({ factory, before: (app) => app.use(compression({ threshold: 0 })) });
    const stream = new RawStream(site.origin, path, ['Accept-Encoding: gzip, br']);
    await stream.has('event: status');
    await watching(site);
    site.watch.tell(intentId, { kind: 'code_scanned', id: 'm1' });
    await stream.has('id: m1\n');
    expect(stream.head).not.toContain('content-encoding');
    // It does compress what may be compressed, so that this test can fail.
    const { headers } = await request(site.origin).get(`/status/${intentId}`).set('Accept-Encoding', 'gzip');
    expect(headers['content-encoding']).toBe('gzip');
  });

  test('what compresses all the same is flushed', async () => {
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
    expect(flush.mock.calls.length).toBeGreaterThanOrEqual(3);
  });
});

/** Opens a stream that a middleware breaks; gives one beside it that it leaves alone. */
async function openBesideBroken(site: EventSite): Promise<RawStream> {
  const broken = new RawStream(site.origin, `${path}?broken=1`);
  await broken.has('event: status');
  const sound = new RawStream(site.origin, path);
  await sound.has('event: status');
  await watching(site);
  return sound;
}

test('a middleware whose write fails costs its own stream alone', async () => {
  const site = await startEventSite({
    before: (app) =>
      app.use((req, res, next) => {
        const { write } = res;
        if (req.query.broken)
          res.write = (chunk: Buffer) => {
            if (chunk.includes('code_scanned\n')) throw new Error('broken');
            return write.call(res, chunk, 'utf8');
          };
        next();
      }),
  });
  const sound = await openBesideBroken(site);
  site.watch.tell(intentId, { kind: 'code_scanned', id: 'm1' });
  await sound.has('id: m1\n');
  await eventually('the broken one is gone', () => site.context.seats.taken === 1);
});

test('what an app has corked comes in order once that is over', async () => {
  const corked: Response[] = [];
  const site = await startEventSite({
    before: (app) =>
      app.use((_req, res, next) => {
        res.cork();
        corked.push(res);
        next();
      }),
  });
  const stream = new RawStream(site.origin, path);
  await watching(site);
  site.watch.tell(intentId, { kind: 'code_scanned', id: 'm1' });
  for (const res of corked) res.uncork();
  await stream.has('id: m1\n');
  expect(stream.head).toMatch(/^http\/1.1 200 /);
  expect(stream.body).toMatch(/^retry: \d+\n\nevent: status\n.*\n\nevent: code_scanned\nid: m1\n/);
});

test('a middleware whose end fails costs its own stream alone', async () => {
  const site = await startEventSite({
    before: (app) =>
      app.use((req, res, next) => {
        if (req.query.broken)
          res.end = () => {
            throw new Error('broken');
          };
        next();
      }),
  });
  const sound = await openBesideBroken(site);
  site.watch.tell(intentId, { kind: 'intent_submitted', id: 'intent_submitted' });
  await sound.has('0\r\n\r\n');
  await eventually('both are gone', () => site.context.seats.taken === 0);
});

describe('Last-Event-ID may be anything', () => {
  test.each([
    ['long', 'x'.repeat(8_000)],
    ['other bytes', '\xff\xfe\x80'],
    ['a field of the stream', 'm1 event: intent_submitted data: {}'],
    ['of the prototype', '__proto__'],
    ['empty', ''],
  ])('%s', async (_what, lastEventId) => {
    const site = await startEventSite();
    const first = new RawStream(site.origin, path);
    await watching(site);
    site.watch.tell(intentId, { kind: 'code_scanned', id: 'm1' });
    await first.has('id: m1\n');
    const stream = new RawStream(site.origin, path, [`Last-Event-ID: ${lastEventId}`]);
    await stream.has('id: m1\n');
    expect(stream.head).toMatch(/^http\/1.1 200 /);
    expect(stream.body.replace(/^retry.*\n\n/, '')).toBe(
      'event: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n' +
        'event: code_scanned\nid: m1\ndata: {"id":"m1"}\n\n',
    );
  });

  test('a line break makes no header and no field of it', async () => {
    const { origin, context } = await startEventSite();
    const stream = new RawStream(origin, path, ['Last-Event-ID: a\nX-Evil: 1\r\n evil\r\nX-Other: 1']);
    await stream.has('\r\n\r\n');
    expect(stream.text.toLowerCase()).not.toContain('evil');
    expect(context.seats.taken).toBeLessThanOrEqual(1);
  });
});

describe('every 15 seconds', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('all streams have a comment, by one timer; also those that wait for the status', async () => {
    const site = await startEventSite();
    const streams = [path, path, `/intent/${otherIntentId}/events`].map((to) => new RawStream(site.origin, to));
    for (const stream of streams) await stream.has('event: status');
    site.pass(250);
    site.transport.answerWith('nothing');
    const waiting = new RawStream(site.origin, path);
    await waiting.has('retry:');
    const timers = jest.getTimerCount();
    jest.advanceTimersByTime(14_999);
    for (const stream of streams) expect(stream.body).not.toMatch(/^:$/m);
    jest.advanceTimersByTime(1);
    for (const stream of [...streams, waiting]) await eventually('a comment', () => /\n:\n\n$/.test(stream.body));
    // One for the comments, however many streams there are, and the one that bounds the call that has no answer.
    expect(timers).toBe(2);
    site.context.events.close();
    await eventually('no timer is left', () => jest.getTimerCount() === 0);
  });
});

test('close ends the streams and the watches, and takes nobody any more', async () => {
  const site = await startEventSite();
  const streams = [path, path, `/intent/${otherIntentId}/events`].map((to) => new RawStream(site.origin, to));
  for (const stream of streams) await stream.has('event: status');
  await eventually('two watches', () => site.watch.running === 2);
  site.context.events.close();
  for (const stream of streams) await stream.has('0\r\n\r\n');
  await eventually('no watch', () => site.watch.running === 0 && site.context.seats.taken === 0);
  expect(site.context.events.size).toBe(0);
  const { text } = await request(site.origin).get(path).expect(200);
  expect(text).toMatch(/^retry: \d+\n\n$/);
  expect(site.context.seats.taken).toBe(0);
  site.context.events.close();
});
