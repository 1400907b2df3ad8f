import { jest } from '@jest/globals';
import { EventSource } from 'eventsource';
import request from 'supertest';
import { SequencerError } from '../../src/errors.js';
import type { IntentEvent } from '../../src/sequencer/intent-event.js';
import { eventually } from '../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../support/sites/event-site.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { post } from '../support/sites/post.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { expressVersions } from '../support/sites/site.js';
import { scanned, submitted, unknown } from '../support/transports/status-transport.js';

const path = `/intent/${intentId}/events`;
const scannedEvent: IntentEvent = { kind: 'code_scanned', id: 'm1', timestampMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6) };
const rejectedEvent: IntentEvent = { kind: 'client_rejected_payment', id: 'm2' };
const submittedEvent: IntentEvent = { kind: 'intent_submitted', id: 'intent_submitted' };
const pendingFrame = 'event: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n';
const submittedFrame = 'event: status\ndata: {"exists":true,"code_scanned":true,"intent_submitted":true}\n\n';
const rejectedFrame = 'event: client_rejected_payment\nid: m2\ndata: {"id":"m2"}\n\n';
const terminalFrame = 'event: intent_submitted\nid: intent_submitted\ndata: {"id":"intent_submitted"}\n\n';

const sources: EventSource[] = [];
afterEach(() => {
  for (const source of sources.splice(0)) source.close();
});

/** A tab: an EventSource by other hands than ours, and what it was told. */
function tab(origin: string, eventPath = path): { source: EventSource; told: string[]; codes: unknown[] } {
  const source = new EventSource(origin + eventPath);
  sources.push(source);
  const told: string[] = [];
  const codes: unknown[] = [];
  for (const kind of ['status', 'code_scanned', 'client_rejected_payment', 'intent_submitted', 'message']) {
    source.addEventListener(kind, ({ type, lastEventId, data }) => told.push(`${type} ${lastEventId} ${data}`));
  }
  source.addEventListener('error', ({ code }) => codes.push(code));
  return { source, told, codes };
}

/** What waits a time that chance has a part in, waits a hundredth of it: a browser that comes back, a service that is down. */
function hurry(): void {
  jest.spyOn(Math, 'random').mockReturnValue(-0.98);
}

const watching = ({ watch }: EventSite, count = 1): Promise<void> =>
  eventually(`${count} watches`, () => watch.running === count);

describe.each(Object.entries(expressVersions))('GET /intent/:id/events on %s (interface 6)', (_name, factory) => {
  test('the bytes are those of the standard, and each is sent at once', async () => {
    const site = await startEventSite({ factory });
    const stream = new RawStream(site.origin, path);
    await stream.has('event: status');
    expect(stream.body).toMatch(/^retry: (?:[7-9]\d{2}|1[0-5]\d{2})\n\n/);
    expect(stream.body.replace(/^retry.*\n\n/, '')).toBe(pendingFrame);
    await watching(site);
    site.watch.tell(intentId, scannedEvent);
    await stream.has('\nid: m1\n');
    site.watch.tell(intentId, rejectedEvent);
    site.watch.tell(intentId, submittedEvent);
    await stream.has('0\r\n\r\n');
    expect(stream.body.replace(/^retry.*\n\n/, '')).toBe(
      `${pendingFrame}event: code_scanned\nid: m1\ndata: {"id":"m1","timestamp":"2026-01-02T03:04:05.006Z"}\n\n` +
        `${rejectedFrame}${terminalFrame}`,
    );
  });

  test('the head keeps caches, proxies and compression away, and has the headers of helmet', async () => {
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

  test('an EventSource is told everything in order, and stops after the last event', async () => {
    hurry();
    const site = await startEventSite({ factory });
    const { source, told, codes } = tab(site.origin);
    await watching(site);
    for (const event of [scannedEvent, rejectedEvent, submittedEvent]) site.watch.tell(intentId, event);
    await eventually('the EventSource is closed', () => source.readyState === EventSource.CLOSED);
    expect(told).toEqual([
      'status  {"exists":true,"code_scanned":false,"intent_submitted":false}',
      'code_scanned m1 {"id":"m1","timestamp":"2026-01-02T03:04:05.006Z"}',
      'client_rejected_payment m2 {"id":"m2"}',
      'intent_submitted intent_submitted {"id":"intent_submitted"}',
    ]);
    // It came back by itself with the last id.
    expect(codes.at(-1)).toBe(204);
  });

  test('an intent that was submitted before is told in one go, without a watch', async () => {
    const { origin, transport, watch } = await startEventSite({ factory });
    transport.answerWith(submitted);
    const { text } = await request(origin).get(path).expect(200);
    expect(text.replace(/^retry.*\n\n/, '')).toBe(submittedFrame + terminalFrame);
    expect(watch.begun).toEqual([]);
  });

  test('who had the last event is told to stay away, and nobody is asked', async () => {
    const { origin, transport } = await startEventSite({ factory });
    const answer = await request(origin).get(path).set('Last-Event-ID', 'intent_submitted').expect(204);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(transport.asked).toBe(0);
  });

  test.each([
    ['no Base58', '/intent/0OIl/events'],
    ['too short', '/intent/abc/events'],
    ['too long', `/intent/${intentId}${intentId}/events`],
    ['of the prototype', '/intent/__proto__/events'],
    ['a line break', `/intent/${intentId}%0d%0aX-Evil:%201/events`],
  ])('an id that is %s is refused', async (_what, wrong) => {
    const { origin, context, transport } = await startEventSite({ factory });
    const { body, headers } = await request(origin).get(wrong).expect(400);
    expect(body).toMatchObject({ code: 'invalid_id', status: 400 });
    expect([headers['content-type'], headers['x-evil']]).toEqual(['application/problem+json', undefined]);
    expect([transport.asked, context.events.size, context.seats.taken]).toEqual([0, 0, 0]);
  });

  test('HEAD has the head alone and takes no seat; other methods are refused', async () => {
    const { origin, context, transport } = await startEventSite({ factory });
    const { headers, text } = await request(origin).head(path).expect(200);
    expect([headers['content-type'], text]).toEqual(['text/event-stream; charset=utf-8', undefined]);
    const refused = await post(origin, path).expect(405);
    expect([refused.body.code, refused.headers.allow]).toEqual(['method_not_allowed', 'GET']);
    expect([transport.asked, context.events.size, context.seats.taken]).toEqual([0, 0, 0]);
  });

  test('after the end the connection is of use for the next request', async () => {
    const { origin, transport } = await startEventSite({ factory });
    transport.answerWith(submitted);
    const stream = new RawStream(origin, path);
    await stream.has('0\r\n\r\n');
    stream.text = '';
    stream.request(`/status/${intentId}`);
    await stream.has('{"exists":true,"code_scanned":true,"intent_submitted":true}');
  });
});

test('what a browser missed it is told when it comes back, and no more than that', async () => {
  const site = await startEventSite();
  const first = new RawStream(site.origin, path);
  await watching(site);
  site.watch.tell(intentId, scannedEvent);
  site.watch.tell(intentId, rejectedEvent);
  await first.has('m2');
  const again = new RawStream(site.origin, path, ['Last-Event-ID: m1']);
  await again.has('id: m2');
  expect(again.body.replace(/^retry.*\n\n/, '')).toBe(pendingFrame + rejectedFrame);
});

test.each([
  ['who is new', []],
  ['who comes with an id that nobody knows', ['Last-Event-ID: never-heard-of']],
])('%s is told everything there is', async (_who, headers) => {
  const site = await startEventSite();
  new RawStream(site.origin, path);
  await watching(site);
  site.watch.tell(intentId, scannedEvent);
  site.watch.tell(intentId, rejectedEvent);
  const late = new RawStream(site.origin, path, headers);
  await late.has('id: m2');
  expect(late.body.match(/id: \w+/g)).toEqual(['id: m1', 'id: m2']);
});

test('of many events the last 32 are kept', async () => {
  const site = await startEventSite();
  const first = new RawStream(site.origin, path);
  await watching(site);
  for (let n = 1; n <= 100; n += 1) site.watch.tell(intentId, { kind: 'airdrop_received', id: `n${n}` });
  await first.has('id: n100\n');
  const late = new RawStream(site.origin, path);
  await late.has('id: n100\n');
  expect(late.body.match(/id: \w+/g)).toEqual(Array.from({ length: 32 }, (_, index) => `id: n${index + 69}`));
});

test('a page that is loaded again finds the watch, and what it has told', async () => {
  const site = await startEventSite();
  const first = new RawStream(site.origin, path);
  await watching(site);
  site.watch.tell(intentId, scannedEvent);
  await first.has('m1');
  first.socket.destroy();
  await eventually('the seat is free', () => site.context.seats.taken === 0);
  const again = new RawStream(site.origin, path, ['Last-Event-ID: nothing']);
  await again.has('id: m1');
  expect(site.watch.begun).toHaveLength(1);
  expect(site.watch.begun[0]?.signal.aborted).toBe(false);
});

test('fifty tabs cost one watch and one question, and all are told', async () => {
  const site = await startEventSite({ connections: { perAddress: 100 } });
  const streams = Array.from({ length: 50 }, () => new RawStream(site.origin, path));
  for (const stream of streams) await stream.has('event: status');
  await watching(site);
  site.watch.tell(intentId, submittedEvent);
  for (const stream of streams) await stream.has('id: intent_submitted');
  expect(site.watch.begun).toHaveLength(1);
  expect(site.transport.asked).toBe(1);
});

test('each intent has its own events', async () => {
  const site = await startEventSite();
  const one = new RawStream(site.origin, path);
  const other = new RawStream(site.origin, `/intent/${otherIntentId}/events`);
  await watching(site, 2);
  site.watch.tell(otherIntentId, submittedEvent);
  await other.has('id: intent_submitted');
  await other.has('0\r\n\r\n');
  expect(one.body.replace(/^retry.*\n\n/, '')).toBe(pendingFrame);
});

test('an id that nobody created gets no watch: the status, and a hint to come back later', async () => {
  const { origin, transport, watch, context } = await startEventSite();
  transport.answerWith(unknown);
  const { text } = await request(origin).get(path).expect(200);
  expect(text).toContain('event: status\ndata: {"exists":false,"code_scanned":false,"intent_submitted":false}\n\n');
  const [, retryMs] = text.match(/retry: (\d+)\n\n$/) ?? [];
  expect(Number(retryMs)).toBeGreaterThanOrEqual(5_000);
  expect([watch.begun.length, context.events.size]).toEqual([0, 0]);
});

test('while the service is down the stream is open, and tells when it knows', async () => {
  hurry();
  const site = await startEventSite();
  site.transport.answerWith(new SequencerError('sequencer_unreachable', 'canary: 10.0.0.7 is down'));
  const stream = new RawStream(site.origin, path);
  await stream.has('retry:');
  await eventually('the failure is logged', () => site.log.lines.length === 1);
  expect(site.log.text).toContain('sequencer_unreachable');
  site.pass(250);
  site.transport.answerWith(scanned);
  await stream.has('"code_scanned":true');
  expect(stream.text).not.toContain('canary');
  await watching(site);
});

test('a status that was asked for by others is not asked for again, and what a watch has learnt holds for all', async () => {
  const site = await startEventSite();
  await request(site.origin).get(`/status/${intentId}`).expect(200);
  const stream = new RawStream(site.origin, path);
  await watching(site);
  expect(site.transport.asked).toBe(1);
  site.watch.tell(intentId, submittedEvent);
  await stream.has('id: intent_submitted');
  const { body } = await request(site.origin).get(`/status/${intentId}`).expect(200);
  expect(body).toEqual({ exists: true, code_scanned: true, intent_submitted: true });
});

test('that an intent was submitted is told to all, whoever learns it first', async () => {
  const site = await startEventSite();
  const first = new RawStream(site.origin, path);
  await watching(site);
  site.pass(250);
  site.transport.answerWith(submitted);
  await request(site.origin).get(path).expect(200);
  await first.has(`id: intent_submitted`);
  await eventually('the watch is over', () => site.watch.running === 0);
});

test('who comes while the last event is told gets it too', async () => {
  const site = await startEventSite();
  new RawStream(site.origin, path);
  await watching(site);
  site.pass(250);
  site.transport.answerWith('nothing');
  const late = new RawStream(site.origin, path);
  await late.has('retry:');
  site.watch.tell(intentId, submittedEvent);
  await late.has('0\r\n\r\n');
  expect(late.body.replace(/^retry.*\n\n/, '')).toBe(`${submittedFrame}${terminalFrame}`);
});

test('who comes while something happens is told the status first, and what happened once', async () => {
  const site = await startEventSite();
  const first = new RawStream(site.origin, path);
  await watching(site);
  site.pass(250);
  site.transport.answerWith('nothing');
  const late = new RawStream(site.origin, path);
  await late.has('retry:');
  site.watch.tell(intentId, rejectedEvent);
  await first.has('id: m2\n');
  site.transport.answerWith(scanned);
  await late.has('id: m2\n');
  expect(late.body.match(/event: \w+/g)).toEqual(['event: status', 'event: client_rejected_payment']);
});

test.each([
  ['breaks', new Error('canary')],
  ['ends too early', undefined],
])('when a watch %s, the browsers are sent away to come back', async (_how, error) => {
  const site = await startEventSite();
  const stream = new RawStream(site.origin, path);
  await stream.has('event: status');
  await watching(site);
  site.watch.fail(intentId, error);
  await stream.has('0\r\n\r\n');
  expect(stream.body).not.toContain('intent_submitted\n');
  expect(site.context.events.size).toBe(0);
  expect(site.log.text).not.toContain('canary');
  expect(site.log.lines).toHaveLength(error ? 1 : 0);
  new RawStream(site.origin, path);
  await watching(site);
});

test('the watch gets the secret of an intent that was created here, and of no other', async () => {
  const site = await startEventSite();
  const { body } = await post(site.origin).send({ order: 1 }).expect(201);
  const created = intentIdOf(body.client_secret);
  new RawStream(site.origin, `/intent/${created}/events`);
  new RawStream(site.origin, path);
  await watching(site, 2);
  const secrets = new Map(site.watch.begun.map(({ id, clientSecret }) => [id, clientSecret]));
  expect(secrets.get(created)).toBe(body.client_secret);
  expect(secrets.get(intentId)).toBeUndefined();
});
