import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import type { Response } from 'express';
import request from 'supertest';
import { eventually } from '../../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../../support/sites/event-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { pending } from '../../support/transports/status-transport.js';

// The limits of event streams, and that each stream releases its count, timers and watch when it ends.

const path = `/intent/${intentId}/events`;
const cookie = (): string => `Cookie: intent=${randomBytes(32).toString('base64url')}`;

/** No count, no feed and no watch is left. */
async function nothingRemains({ context, watch }: EventSite): Promise<void> {
  const { events, connectionLimiter } = context;
  await eventually('no stream is counted', () => connectionLimiter.open === 0 && connectionLimiter.trackedKeys === 0);
  expect(events.size).toBe(0);
  await eventually('no watch runs', () => watch.running === 0);
}

/** Opens streams one after the other, each after the one before is counted. */
async function open(origin: string, count: number, headers: readonly string[] = [], to = path): Promise<RawStream[]> {
  const streams: RawStream[] = [];
  for (let n = 0; n < count; n += 1) {
    const stream = new RawStream(origin, to, headers);
    await stream.has('\r\n\r\n');
    streams.push(stream);
  }
  return streams;
}

describe('the limit of event streams', () => {
  test('is three for a browser across all intents', async () => {
    const { origin, context } = await startEventSite();
    const browser = cookie();
    await open(origin, 2, [browser]);
    await open(origin, 1, [browser], `/intent/${otherIntentId}/events`);
    const [refused] = await open(origin, 1, [browser]);
    expect(refused?.head).toMatch(
      /^http\/1.1 429 [\s\S]*content-type: application\/problem\+json[\s\S]*retry-after: 10/,
    );
    expect(refused?.text).toContain('"code":"too_many_connections"');
    expect(context.connectionLimiter.open).toBe(3);
    const [other] = await open(origin, 1, [cookie()]);
    expect(other?.head).toMatch(/^http\/1.1 200 /);
  });

  test('is twenty for an address with and without cookies', async () => {
    const { origin } = await startEventSite();
    await open(origin, 10);
    for (let n = 0; n < 10; n += 1) await open(origin, 1, [cookie()]);
    const [refused] = await open(origin, 1, [cookie()]);
    expect(refused?.head).toMatch(/^http\/1.1 429 /);
  });

  test('of a process causes a 503, and is logged once', async () => {
    const { origin, log } = await startEventSite({ streamLimits: { perProcess: 2 } });
    await open(origin, 2);
    const [refused, again] = await open(origin, 2);
    for (const each of [refused, again]) {
      expect(each?.head).toMatch(/^http\/1.1 503 [\s\S]*retry-after: 10/);
      expect(each?.text).toContain('"code":"too_busy"');
    }
    expect(log.lines).toHaveLength(1);
    expect(log.text).toContain('limits.streams.perProcess');
  });
});

describe('no count, feed or watch remains', () => {
  beforeEach(() => {
    // Only timers are fake. Sockets need the others.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('5 seconds after the last stream has disconnected', async () => {
    const site = await startEventSite();
    const streams = await open(site.origin, 3, [cookie()]);
    await eventually('a watch runs', () => site.watch.running === 1);
    for (const { socket } of streams) socket.destroy();
    await eventually('no stream is counted', () => site.context.connectionLimiter.open === 0);
    jest.advanceTimersByTime(4_999);
    expect([site.context.events.size, site.watch.running]).toEqual([1, 1]);
    jest.advanceTimersByTime(1);
    await nothingRemains(site);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('after a disconnect during the call for the status, which completes', async () => {
    const site = await startEventSite();
    site.transport.answerWith('nothing');
    const [stream] = await open(site.origin, 1);
    await eventually('the status is polled', () => site.transport.callCount === 1);
    stream?.socket.destroy();
    await nothingRemains(site);
    expect([site.transport.aborted, site.context.statusCache.size]).toEqual([0, 1]);
    site.transport.answerWith(pending);
    await eventually('the call has ended', () => site.context.statusCache.peek(intentId) !== undefined);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('for the oldest watch without streams when there are too many', async () => {
    const site = await startEventSite({ streamLimits: { perProcess: 1 } });
    for (const id of [intentId, otherIntentId]) {
      const [stream] = await open(site.origin, 1, [], `/intent/${id}/events`);
      await eventually('the intent is watched', () => site.watch.started.at(-1)?.id === id);
      stream?.socket.destroy();
      await eventually('the stream is released', () => site.context.connectionLimiter.open === 0);
    }
    expect(site.context.events.size).toBe(1);
  });
});

test('a stream that fails to start is not counted', async () => {
  const site = await startEventSite({
    before: (app) =>
      app.use((_req, res, next) => {
        const { writeHead } = res;
        res.writeHead = () => {
          res.writeHead = writeHead;
          throw new Error('broken');
        };
        next();
      }),
  });
  const [broken] = await open(site.origin, 1);
  expect(broken?.head).toMatch(/^http\/1.1 500 /);
  expect([site.context.connectionLimiter.open, site.context.events.size]).toEqual([0, 0]);
});

/** A site, and its responses as they start. */
async function startObservedSite(): Promise<{ site: EventSite; responses: readonly Response[] }> {
  const responses: Response[] = [];
  const site = await startEventSite({
    before: (app) =>
      app.use((_req, res, next) => {
        responses.push(res);
        next();
      }),
  });
  return { site, responses };
}

test('a stalled reader is disconnected at 64 KiB of unread data, and the others continue', async () => {
  const { site, responses } = await startObservedSite();
  const [stalled, reader] = await open(site.origin, 2);
  await eventually('a watch runs', () => site.watch.running === 1);
  stalled?.socket.pause();
  const waitingBytes = (): number => responses[0]?.writableLength ?? 0;
  let sent = 0;
  const send = async (count: number, padding = ''): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      sent += 1;
      site.watch.emit(intentId, { kind: 'code_scanned', id: `n${sent}${padding}` });
    }
    await reader?.has(`id: n${sent}${padding}\n`);
    if (reader) reader.text = '';
  };
  // Long events fill the buffers of the kernel. Short ones then show where the limit is.
  while (waitingBytes() === 0) await send(1, 'x'.repeat(10_000));
  let waiting = 0;
  while (site.context.connectionLimiter.open === 2) {
    waiting = waitingBytes();
    await send(50);
  }
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  expect(waiting).toBeGreaterThan(56 * 1024);
  expect(waiting).toBeLessThanOrEqual(64 * 1024);
  site.watch.emit(intentId, { kind: 'intent_submitted', id: 'intent_submitted' });
  await reader?.has('id: intent_submitted');
});

test('a reader that does not take the end of a stream is disconnected after 10 seconds', async () => {
  const { site, responses } = await startObservedSite();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  try {
    await open(site.origin, 1);
    responses[0]?.socket?.cork();
    site.context.events.close();
    jest.advanceTimersByTime(9_999);
    expect(responses[0]?.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(responses[0]?.destroyed).toBe(true);
    await nothingRemains(site);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('close ends the streams and the watches; a later stream is sent to another process', async () => {
  const site = await startEventSite();
  const streams = [path, path, `/intent/${otherIntentId}/events`].map((to) => new RawStream(site.origin, to));
  for (const stream of streams) await stream.has('event: status');
  await eventually('two watches', () => site.watch.running === 2);
  site.context.events.close();
  for (const stream of streams) await stream.has('0\r\n\r\n');
  await eventually('no watch', () => site.watch.running === 0 && site.context.connectionLimiter.open === 0);
  expect(site.context.events.size).toBe(0);
  const { text } = await request(site.origin).get(path).expect(200);
  expect(text).toMatch(/^retry: \d+\n\n$/);
  expect(site.context.connectionLimiter.open).toBe(0);
  site.context.events.close();
});
