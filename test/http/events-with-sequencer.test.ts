import request from 'supertest';
import { intentIdOf } from '../support/sites/intent-id.js';
import { post } from '../support/sites/post.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { expressVersions, startSiteWithSequencer } from '../support/sites/site.js';

describe.each(Object.entries(expressVersions))('the events of a real intent, on %s', (_name, factory) => {
  test.each([{ mode: 'payment', order: 1 }, { mode: 'login' }])('%j', async (body) => {
    const { origin, sequencer } = await startSiteWithSequencer({ factory });
    const created = await post(origin).send(body).expect(201);
    const secret: string = created.body.client_secret;
    const id = intentIdOf(secret);
    const stream = new RawStream(origin, `/intent/${id}/events`);
    await stream.has('event: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n');
    await sequencer.wallet().scan(secret);
    await stream.has('event: code_scanned\nid: code_scanned\n');
    await sequencer.wallet().confirm(secret);
    await stream.has('event: intent_submitted\nid: intent_submitted\n');
    await stream.has('0\r\n\r\n');
    expect(stream.text).not.toContain(secret);
    const { body: status } = await request(origin).get(`/status/${id}`).expect(200);
    expect(status).toEqual({ exists: true, code_scanned: true, intent_submitted: true });
  });

  test('a rejection is told', async () => {
    const { origin, sequencer } = await startSiteWithSequencer({ factory });
    const created = await post(origin).send({ order: 1 }).expect(201);
    const secret: string = created.body.client_secret;
    const stream = new RawStream(origin, `/intent/${intentIdOf(secret)}/events`);
    await stream.has('event: status');
    await sequencer.wallet().reject(secret);
    await stream.has('event: client_rejected_payment\n');
  });
});

test('router.close() ends the streams, and the server can close', async () => {
  const { origin, router } = await startSiteWithSequencer();
  const created = await post(origin).send({ order: 1 }).expect(201);
  const stream = new RawStream(origin, `/intent/${intentIdOf(created.body.client_secret)}/events`);
  await stream.has('event: status');
  await router.close();
  await stream.has('0\r\n\r\n');
  const { text } = await request(origin).get('/intent/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH/events').expect(200);
  expect(text).toMatch(/^retry: \d+\n\n$/);
});

test('the route can be renamed, and switched off', async () => {
  const renamed = await startSiteWithSequencer({ routes: { events: '/pay' } });
  await request(renamed.origin).head('/pay/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH/events').expect(200);
  const off = await startSiteWithSequencer({ routes: { events: false } });
  await request(off.origin).head('/intent/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH/events').expect(404);
});
