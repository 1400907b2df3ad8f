import request from 'supertest';
import { intentId, startEventSite } from '../support/sites/event-site.js';
import { expressVersions, startSite } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';
import { sendRaw } from './support/raw-request.js';

const payment = () => ({ amount: 5, currency: 'usd' });

describe('status and event requests from other sites', () => {
  const paths = [`/status/${intentId}`, `/intent/${intentId}/events`];

  test('are rejected before they are counted or sent to the service', async () => {
    const { origin, context, transport } = await startEventSite();
    for (const path of paths) {
      for (let n = 0; n < 30; n += 1) {
        const { status, body } = await request(origin).get(path).set('Sec-Fetch-Site', 'cross-site');
        expect([path, status, body.code]).toEqual([path, 403, 'cross_site_request']);
      }
    }
    expect([context.connectionLimiter.open, context.connectionLimiter.trackedKeys, transport.callCount]).toEqual([
      0, 0, 0,
    ]);
  });

  test('do not count against the limits of the visitor', async () => {
    const { origin } = await startSite({
      sequencer: { transport: recordingTransport() },
      limits: { requests: { status: 3 } },
    });
    for (let n = 0; n < 10; n += 1) {
      await request(origin).get(`/status/${intentId}`).set('Sec-Fetch-Site', 'cross-site').expect(403);
    }
    for (const site of ['same-origin', 'same-site', 'none']) {
      await request(origin).get(`/status/${intentId}`).set('Sec-Fetch-Site', site).expect(200);
    }
  });
});

describe.each(Object.entries(expressVersions))('DNS rebinding, on %s', (_name, factory) => {
  const start = (origin?: string) =>
    startSite({ factory, sequencer: { transport: recordingTransport() }, payment, origin });
  const json = ['Content-Type: application/json', 'Content-Length: 2'];

  test('changes nothing when INTENT_ORIGIN is set, with any Sec-Fetch-Site', async () => {
    const { origin } = await start('https://shop.example');
    const send = (headers: Record<string, string>) => request(origin).post('/intent').set(headers).send({});
    for (const from of ['https://rebound.example', 'http://shop.example', 'null', '']) {
      const { status, body } = await send({ Host: 'rebound.example', Origin: from, 'Sec-Fetch-Site': 'same-origin' });
      expect([from, status, body.code]).toEqual([from, 403, 'cross_site_request']);
    }
    await send({ Origin: 'https://shop.example', 'Sec-Fetch-Site': 'same-origin' }).expect(201);
    await send({ Origin: 'https://shop.example' }).expect(201);
    await send({ 'Sec-Fetch-Site': 'same-origin' }).expect(201);
  });

  test('changes nothing without a Host', async () => {
    for (const ownOrigin of [undefined, 'https://shop.example']) {
      const { origin } = await start(ownOrigin);
      for (const header of ['Sec-Fetch-Site: same-origin', 'Origin: http://undefined', 'Origin: http://']) {
        const request = ['POST /intent HTTP/1.0', header, ...json, '', '{}'].join('\r\n');
        expect((await sendRaw(origin, request)).status).toBe(403);
      }
    }
  });
});
