import request from 'supertest';
import { closeAll, create, created, payment, reason, start } from '../fixture.js';

afterEach(closeAll);

describe('/faults/api', () => {
  test('injects a fault, lists it, and counts its calls', async () => {
    const { url } = await start();
    await request(url).get('/faults/api/faults').expect(200, { faults: [] });
    const fault = { kind: 'error', operations: ['createIntent'], times: 2 };
    const { body } = await request(url).post('/faults/api/faults').send(fault).expect(201);
    const listed = { id: body.id, kind: 'error', operations: ['createIntent'], when: 'before', timesLeft: 2 };
    await request(url)
      .get('/faults/api/faults')
      .expect(200, { faults: [listed] });
    reason(await create(url, await payment()));
    await request(url)
      .get('/faults/api/faults')
      .expect(200, { faults: [{ ...listed, timesLeft: 1 }] });
    reason(await create(url, await payment()));
    await request(url).get('/faults/api/faults').expect(200, { faults: [] });
    await created(url, payment());
  });

  test.each([
    ['an unknown kind', { kind: 'explode' }, 400, 'invalid_request'],
    ['what a kind has not', { kind: 'disconnect', ms: 5 }, 400, 'invalid_request'],
    ['too much', { kind: 'x'.repeat(5_000) }, 413, 'body_too_large'],
  ])('refuses %s', async (_name, fault, status, code) => {
    const { url } = await start();
    const { body } = await request(url).post('/faults/api/faults').send(fault).expect(status);
    expect(body.error.code).toBe(code);
    await request(url).get('/faults/api/faults').expect(200, { faults: [] });
  });

  test('accepts only application/json, which another origin cannot send without a preflight', async () => {
    const { url } = await start();
    const text = JSON.stringify({ kind: 'disconnect' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      await request(url).post('/faults/api/faults').set('content-type', type).send(text).expect(415);
    }
    await request(url).post('/faults/api/faults').set('content-type', 'application/json').send('{').expect(400);
    await request(url).get('/faults/api/faults').expect(200, { faults: [] });
  });

  test('accepts pages of its own origin and programs only', async () => {
    const simulator = await start();
    const { url } = simulator;
    simulator.injectFault({ kind: 'delay', ms: 1 });
    for (const origin of ['null', 'https://stranger.example', `http://localhost:${new URL(url).port}`]) {
      const api = request(url);
      for (const asked of [
        api.get('/faults/api/kinds'),
        api.get('/faults/api/faults'),
        api.post('/faults/api/faults').send({ kind: 'disconnect' }),
        api.delete('/faults/api/faults/1'),
        api.delete('/faults/api/faults'),
      ]) {
        const { body } = await asked.set('origin', origin).expect(403);
        expect(body.error.code).toBe('cross_site_request');
      }
    }
    const { body } = await request(url).get('/faults/api/faults').set('origin', url).expect(200);
    expect(body.faults).toHaveLength(1);
  });
});
