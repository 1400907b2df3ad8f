import request from 'supertest';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { post } from '../../support/sites/post.js';
import { expressVersions, startSiteWithSimulator } from '../../support/sites/site.js';

describe.each(Object.entries(expressVersions))('GET /status/:id on %s (interface 2.6, 3, 4.4)', (_name, factory) => {
  test('reports the three flags in their order', async () => {
    let nowMs = 0;
    const { origin, simulator } = await startSiteWithSimulator({ factory, testClock: () => nowMs });
    const { body } = await post(origin).send({ order: 1 }).expect(201);
    const status = async () => {
      // The status cache keeps a response for 250 ms.
      nowMs += 250;
      return (
        await request(origin)
          .get(`/status/${intentIdOf(body.client_secret)}`)
          .expect(200)
      ).body;
    };
    expect(await status()).toEqual({ exists: true, code_scanned: false, intent_submitted: false });
    await simulator.wallet().scan(body.client_secret);
    expect(await status()).toEqual({ exists: true, code_scanned: true, intent_submitted: false });
    await simulator.wallet().confirm(body.client_secret);
    expect(await status()).toEqual({ exists: true, code_scanned: true, intent_submitted: true });
  });

  test('reports exists: false for an unknown id', async () => {
    const { origin } = await startSiteWithSimulator({ factory });
    const answer = await request(origin).get('/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH').expect(200);
    expect(answer.body).toEqual({ exists: false, code_scanned: false, intent_submitted: false });
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});

test('GET /status/:id does not report a rejection', async () => {
  const { origin, simulator } = await startSiteWithSimulator();
  const { body } = await post(origin).send({ order: 1 }).expect(201);
  await simulator.wallet().decline(body.client_secret);
  const { body: status } = await request(origin)
    .get(`/status/${intentIdOf(body.client_secret)}`)
    .expect(200);
  expect(status).toEqual({ exists: true, code_scanned: true, intent_submitted: false });
});
