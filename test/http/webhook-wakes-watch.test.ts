import { jest } from '@jest/globals';
import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { type EventSite, intentId, otherIntentId, startEventSite } from '../support/sites/event-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { startSite } from '../support/sites/site.js';
import { StatusTransport, scanned, submitted } from '../support/transports/status-transport.js';

const service = generateJwtKey();
const { publicKey: serviceKey } = service;
const path = `/intent/${intentId}/events`;
const scannedLine = 'event: code_scanned\n';
const terminalLine = 'event: intent_submitted\n';
const end = '0\r\n\r\n';

/** Each call is another one: what the service has said before is taken no second time. */
let calls = 0;
async function callWebhook(origin: string, id = intentId): Promise<void> {
  calls += 1;
  const jwt = jwtOf({ intent: id, state: 'SUBMITTED', amount: calls }, service);
  await request(origin).post('/intent/webhook').set('content-type', 'application/jwt').send(jwt).expect(204);
}

async function listen({ origin, watch }: EventSite): Promise<RawStream> {
  const stream = new RawStream(origin, path);
  await stream.has('event: status');
  await eventually('a watch', () => watch.running === 1);
  return stream;
}

const count = (stream: RawStream, line: string): number => stream.body.split(line).length - 1;

test('a watch that says nothing is overtaken: all who listen are told once, and the streams end', async () => {
  const site = await startEventSite({ serviceKey });
  const streams = [await listen(site), await listen(site)];
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

test('what the call claims is not believed', async () => {
  const site = await startEventSite({ serviceKey });
  const stream = await listen(site);
  const { asked } = site.transport;
  await callWebhook(site.origin);
  await eventually('the service is asked', () => site.transport.asked === asked + 1);
  site.watch.tell(intentId, { kind: 'airdrop_received', id: 'm1' });
  await stream.has('event: airdrop_received');
  expect([count(stream, scannedLine), count(stream, terminalLine), stream.text.includes(end)]).toEqual([0, 0, false]);
});

test('that the code was scanned is told once, whoever knows it first', async () => {
  const site = await startEventSite({ serviceKey });
  const stream = await listen(site);
  site.transport.answerWith(scanned);
  for (let n = 0; n < 2; n += 1) {
    await callWebhook(site.origin);
    await stream.has(scannedLine);
  }
  site.watch.tell(intentId, { kind: 'code_scanned', id: 'code_scanned', timestampMs: 5 });
  site.watch.tell(intentId, { kind: 'airdrop_received', id: 'm1' });
  await stream.has('event: airdrop_received');
  expect(count(stream, scannedLine)).toBe(1);
  site.watch.tell(intentId, { kind: 'intent_submitted', id: 'intent_submitted' });
  await stream.has(end);
});

test('who is not greeted yet is greeted with it', async () => {
  const site = await startEventSite({ serviceKey });
  site.transport.answerWith('nothing');
  const stream = new RawStream(site.origin, path);
  await eventually('it is asked', () => site.transport.asked === 1);
  await callWebhook(site.origin);
  site.transport.answerWith(submitted);
  await stream.has(end);
  expect([count(stream, 'event: status'), count(stream, terminalLine)]).toEqual([1, 1]);
});

test('another intent, or one that nobody listens to, begins nothing', async () => {
  const site = await startEventSite({ serviceKey });
  const stream = await listen(site);
  const { asked } = site.transport;
  site.transport.answerWith(submitted);
  await callWebhook(site.origin, otherIntentId);
  await eventually('the service is asked', () => site.transport.asked === asked + 1);
  expect([site.watch.begun.length, site.context.events.size, stream.text.includes(end)]).toEqual([1, 1, false]);
});

describe('in the router', () => {
  /** No time passes: a watch that is not told anything asks once and never again, and what was answered is kept. */
  async function startRouter(transport: StatusTransport) {
    const { setTimeout } = globalThis;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(() => setTimeout(() => undefined, 0));
    const now = (): number => 1_700_000_000_000;
    const { origin } = await startSite({ transport, webhook: true, serviceKey, origin: 'https://shop.example', now });
    const stream = new RawStream(origin, path);
    await stream.has('event: status');
    // By the greeting, and by the watch.
    await eventually('it is asked twice', () => transport.asked === 2);
    return { origin, stream };
  }

  test('a call wakes the watch', async () => {
    const transport = new StatusTransport();
    const { origin, stream } = await startRouter(transport);
    transport.answerWith(submitted);
    await callWebhook(origin);
    await stream.has(terminalLine);
    await stream.has(end);
    expect(transport.asked).toBe(3);
  });

  test('what a watch was answered is what the tabs are told that ask for the status', async () => {
    const transport = new StatusTransport();
    const call = transport.call.bind(transport);
    transport.call = (...args) => {
      const answer = call(...args);
      transport.answerWith(scanned);
      return answer;
    };
    const { origin, stream } = await startRouter(transport);
    await stream.has(scannedLine);
    const { body } = await request(origin).get(`/status/${intentId}`).expect(200);
    expect(body).toMatchObject({ code_scanned: true });
    expect(transport.asked).toBe(2);
  });
});
