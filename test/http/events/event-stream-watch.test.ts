import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import request from 'supertest';
import { SequencerError } from '../../../src/errors.js';
import type { IntentEvent } from '../../../src/sequencer/watch/intent-event.js';
import { unsubmittedTtlMs } from '../../../src/sequencer/watch/status-cache.js';
import { eventually } from '../../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../../support/sites/event-site.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { post } from '../../support/sites/post.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { startSite } from '../../support/sites/site.js';
import { pending, StatusTransport, scanned, submitted, unknown } from '../../support/transports/status-transport.js';

// What the event streams of an intent share: one watch, one call for the status, and what rechecks and webhook calls add.

const path = `/intent/${intentId}/events`;
const rejectedEvent: IntentEvent = { kind: 'client_rejected_payment', id: 'm2' };
const submittedEvent: IntentEvent = { kind: 'intent_submitted', id: 'intent_submitted' };
const pendingFrame = 'event: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n';
const submittedFrame = 'event: status\ndata: {"exists":true,"code_scanned":true,"intent_submitted":true}\n\n';
const terminalFrame = 'event: intent_submitted\nid: intent_submitted\ndata: {"id":"intent_submitted"}\n\n';
const scannedLine = 'event: code_scanned\n';
const terminalLine = 'event: intent_submitted\n';
const end = '0\r\n\r\n';

const watching = ({ watch }: EventSite, count = 1): Promise<void> =>
  eventually(`${count} watches`, () => watch.running === count);
const framesOf = ({ body }: { body: string }): string => body.replace(/^retry.*\n\n/, '');
const count = (stream: RawStream, line: string): number => stream.body.split(line).length - 1;

/** Opens a stream that has its status and its watch. */
async function openStream(site: EventSite): Promise<RawStream> {
  const stream = new RawStream(site.origin, path);
  await stream.has('event: status');
  await watching(site);
  return stream;
}

describe('the watch of an intent', () => {
  test('and its call for the status are shared by fifty streams, which all receive its events', async () => {
    const site = await startEventSite({ streamLimits: { perAddress: 100 } });
    const streams = Array.from({ length: 50 }, () => new RawStream(site.origin, path));
    for (const stream of streams) await stream.has('event: status');
    await watching(site);
    site.watch.emit(intentId, submittedEvent);
    for (const stream of streams) await stream.has('id: intent_submitted');
    expect(site.watch.started).toHaveLength(1);
    expect(site.transport.callCount).toBe(1);
  });

  test('is not shared with another intent', async () => {
    const site = await startEventSite();
    const one = new RawStream(site.origin, path);
    const other = new RawStream(site.origin, `/intent/${otherIntentId}/events`);
    await watching(site, 2);
    site.watch.emit(otherIntentId, submittedEvent);
    await other.has('id: intent_submitted');
    await other.has(end);
    await one.has('event: status');
    expect(framesOf(one)).toBe(pendingFrame);
  });

  test('does not start for an id that does not exist: the stream ends with a long retry time', async () => {
    const { origin, transport, watch, context } = await startEventSite();
    transport.answerWith(unknown);
    const { text } = await request(origin).get(path).expect(200);
    expect(text).toContain('event: status\ndata: {"exists":false,"code_scanned":false,"intent_submitted":false}\n\n');
    const [, retryMs] = text.match(/retry: (\d+)\n\n$/) ?? [];
    expect(Number(retryMs)).toBeGreaterThanOrEqual(5_000);
    expect([watch.started.length, context.events.size]).toEqual([0, 0]);
  });

  test.each([
    ['fails', new Error('canary')],
    ['ends early', undefined],
  ])('that %s ends the streams, and a reconnect starts another one', async (_how, error) => {
    const site = await startEventSite();
    const stream = await openStream(site);
    site.watch.fail(intentId, error);
    await stream.has(end);
    expect(stream.body).not.toContain('intent_submitted\n');
    expect(site.context.events.size).toBe(0);
    expect(site.log.text).not.toContain('canary');
    expect(site.log.lines).toHaveLength(error ? 1 : 0);
    new RawStream(site.origin, path);
    await watching(site);
  });

  test('receives the client secret of an intent that this process created, and of no other', async () => {
    const site = await startEventSite();
    const { body } = await post(site.origin).send({ order: 1 }).expect(201);
    const created = intentIdOf(body.client_secret);
    new RawStream(site.origin, `/intent/${created}/events`);
    new RawStream(site.origin, path);
    await watching(site, 2);
    const secrets = new Map(site.watch.started.map(({ id, clientSecret }) => [id, clientSecret]));
    expect(secrets.get(created)).toBe(body.client_secret);
    expect(secrets.get(intentId)).toBeUndefined();
  });
});

describe('the status of an intent', () => {
  test('is retried while the sequencer is down, and the stream stays open', async () => {
    // The retry follows after a hundredth of its delay.
    jest.spyOn(Math, 'random').mockReturnValue(-0.98);
    const site = await startEventSite();
    site.transport.answerWith(new SequencerError('sequencer_unreachable', 'canary: 10.0.0.7 is down'));
    const stream = new RawStream(site.origin, path);
    await stream.has('retry:');
    await eventually('the status has failed', () => site.transport.callCount > 0);
    site.pass(unsubmittedTtlMs);
    site.transport.answerWith(scanned);
    await stream.has('"code_scanned":true');
    expect(stream.text).not.toContain('canary');
    await watching(site);
  });

  test('of a new stream ends the streams that are open, when it is submitted', async () => {
    const site = await startEventSite();
    const first = new RawStream(site.origin, path);
    await watching(site);
    site.pass(unsubmittedTtlMs);
    site.transport.answerWith(submitted);
    await request(site.origin).get(path).expect(200);
    await first.has('id: intent_submitted');
    await eventually('the watch is over', () => site.watch.running === 0);
  });

  test('comes before the last event on a stream that waits for it', async () => {
    const site = await startEventSite();
    new RawStream(site.origin, path);
    await watching(site);
    site.pass(unsubmittedTtlMs);
    site.transport.answerWith('nothing');
    const late = new RawStream(site.origin, path);
    await late.has('retry:');
    site.watch.emit(intentId, submittedEvent);
    await late.has(end);
    expect(framesOf(late)).toBe(submittedFrame + terminalFrame);
  });

  test('of a call that any client makes reaches every stream: the scan once, as an event', async () => {
    const site = await startEventSite();
    const stream = await openStream(site);
    site.pass(unsubmittedTtlMs);
    site.transport.answerWith(scanned);
    await request(site.origin).get(`/status/${intentId}`).expect(200);
    await stream.has(scannedLine);
    site.watch.emit(intentId, { kind: 'code_scanned', id: 'code_scanned' });
    site.watch.emit(intentId, rejectedEvent);
    await stream.has('id: m2\n');
    expect(count(stream, scannedLine)).toBe(1);
    site.transport.answerWith(submitted);
    site.pass(unsubmittedTtlMs);
    await request(site.origin).get(`/status/${intentId}`).expect(200);
    await stream.has(end);
    expect([count(stream, scannedLine), count(stream, terminalLine)]).toEqual([1, 1]);
    await eventually('the watch is over', () => site.watch.running === 0);
  });
});

describe('a webhook call', () => {
  const service = generateJwtKey();
  const { publicKey: webhookPublicKey } = service;

  /** Each call has other bytes: the router accepts a call once. */
  let calls = 0;
  async function callWebhook(origin: string, id = intentId): Promise<void> {
    calls += 1;
    const jwt = jwtOf({ intent: id, state: 'SUBMITTED', amount: calls }, service);
    await request(origin).post('/intent/webhook').set('content-type', 'application/jwt').send(jwt).expect(200);
  }

  test('ends the streams before a silent watch does: each has every event once', async () => {
    const site = await startEventSite({ webhookPublicKey });
    const streams = [await openStream(site), await openStream(site)];
    site.transport.answerWith(submitted);
    await callWebhook(site.origin);
    for (const stream of streams) {
      await stream.has(end);
      expect([count(stream, scannedLine), count(stream, terminalLine)]).toEqual([1, 1]);
      expect(stream.body.indexOf(scannedLine)).toBeLessThan(stream.body.indexOf(terminalLine));
    }
    await eventually('no watch', () => site.watch.running === 0);
    expect(site.context.events.size).toBe(0);
    const { body } = await request(site.origin).get(`/status/${intentId}`).expect(200);
    expect(body).toEqual({ exists: true, code_scanned: true, intent_submitted: true });
    expect(site.log.lines).toEqual([]);
  });

  test('is not trusted: only the response of the sequencer counts', async () => {
    const site = await startEventSite({ webhookPublicKey });
    const stream = await openStream(site);
    const { callCount } = site.transport;
    await callWebhook(site.origin);
    await eventually('the sequencer is called', () => site.transport.callCount === callCount + 1);
    site.watch.emit(intentId, { kind: 'airdrop_received', id: 'm1' });
    await stream.has('event: airdrop_received');
    expect([count(stream, scannedLine), count(stream, terminalLine), stream.text.includes(end)]).toEqual([0, 0, false]);
  });

  test('wakes the watch of the router', async () => {
    // No time passes: a watch without events polls once, and the response stays cached.
    const { setTimeout } = globalThis;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(() => setTimeout(() => undefined, 0));
    const transport = new StatusTransport();
    const webhook = { webhook: { publicKeys: [webhookPublicKey] }, origin: 'https://shop.example' };
    const { origin } = await startSite({ sequencer: { transport } }, webhook, { testClock: () => 1_700_000_000_000 });
    const stream = new RawStream(origin, path);
    await stream.has('event: status');
    await eventually('the stream and the watch have polled', () => transport.callCount === 2);
    transport.answerWith(submitted);
    await callWebhook(origin);
    await stream.has(terminalLine);
    await stream.has(end);
    expect(transport.callCount).toBe(3);
  });
});

test('thousands of notifications of the database cost one call per cache lifetime, and the last one counts', async () => {
  const submittedIds: string[] = [];
  const site = await startEventSite({ onSubmitted: (id) => submittedIds.push(id) });
  const { transport, context } = site;
  const stream = await openStream(site);
  const { callCount } = transport;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  try {
    for (let elapsedMs = 0; elapsedMs < 4 * unsubmittedTtlMs; elapsedMs += 10) {
      for (let n = 0; n < 100; n += 1) context.events.recheck(intentId);
      for (const other of [otherIntentId, '', 'x'.repeat(7_900)]) context.events.recheck(other);
      site.pass(10);
      jest.advanceTimersByTime(10);
      // The response has arrived.
      await setImmediate();
    }
    expect(transport.callCount - callCount).toBe(4);
    transport.answerWith(submitted);
    context.events.recheck(intentId);
    jest.advanceTimersByTime(unsubmittedTtlMs);
  } finally {
    jest.useRealTimers();
  }
  await stream.has(terminalLine);
  // The process that sent the notification may not be the one that settles.
  expect(submittedIds).toEqual([intentId]);
});

test('a watch runs in the async context of its stream, although another request made the shared call', async () => {
  const context = new AsyncLocalStorage<string>();
  const site = await startEventSite({ before: (app) => app.use((req, _res, next) => context.run(req.path, next)) });
  const startedIn: unknown[] = [];
  site.watch.onStart = () => startedIn.push(context.getStore());
  site.transport.answerWith('nothing');
  const status = request(site.origin).get(`/status/${intentId}`).then();
  await eventually('the status is polled', () => site.transport.callCount === 1);
  const stream = new RawStream(site.origin, path);
  await stream.has('retry:');
  await eventually('the stream shares the call', () => site.context.events.size === 1);
  site.transport.answerWith(pending);
  await stream.has(pendingFrame);
  await watching(site);
  await status;
  expect([site.transport.callCount, startedIn]).toEqual([1, [path]]);
});
