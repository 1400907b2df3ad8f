import request from 'supertest';
import { faultKindNames, faultKinds } from '../../../src/emulator/faults/fault-kinds.js';
import { sequencerOperationNames } from '../../../src/emulator/operations/request.js';
import { closeAll, create, created, opened, payment, reason, start } from '../fixture.js';

afterEach(closeAll);

describe('the fault switches of the inspector', () => {
  test('name every group of kinds and every operation', async () => {
    const { url } = await start();
    const { text } = await request(url).get('/wallet/page/faults.js');
    for (const { group } of Object.values(faultKinds)) expect(text).toMatch(new RegExp(`^  ${group}: '`, 'm'));
    for (const operation of sequencerOperationNames) expect(text).toMatch(new RegExp(`^  ${operation}: '`, 'm'));
  });
});

describe('/faults/api', () => {
  test('lists every kind with its description, and every operation', async () => {
    const { url } = await start();
    const { body } = await request(url).get('/faults/api/kinds').expect(200);
    expect(body.operations).toEqual(sequencerOperationNames);
    expect(body.kinds.map(({ kind }: { kind: string }) => kind)).toEqual(faultKindNames);
    for (const { title, description } of body.kinds) {
      expect(title).toMatch(/^[A-Z][\w ]{3,40}$/);
      expect(description).toMatch(/^[A-Z].{10,120}\.$/);
    }
  });

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

  test('lists faults that a program has injected, with the settings of their kind', async () => {
    const sequencer = await start();
    sequencer.injectFault({ kind: 'delay', ms: 20 });
    sequencer.injectFault({ kind: 'status', times: 1 });
    sequencer.injectFault({ kind: 'duplicate' });
    const { body } = await request(sequencer.url).get('/faults/api/faults');
    expect(body.faults).toEqual([
      { id: 1, kind: 'delay', when: 'before', ms: 20 },
      { id: 2, kind: 'status', when: 'before', httpStatus: 503, timesLeft: 1 },
      { id: 3, kind: 'duplicate', operations: ['pollMessages', 'openMessageStream'] },
    ]);
  });

  test('clears one fault, or all', async () => {
    const sequencer = await start();
    const { url } = sequencer;
    for (const kind of ['disconnect', 'error', 'status'] as const) sequencer.injectFault({ kind });
    await request(url).delete('/faults/api/faults/1').expect(204);
    await request(url).delete('/faults/api/faults/1').expect(204);
    await request(url).delete('/faults/api/faults/nonsense').expect(204);
    const { body } = await request(url).get('/faults/api/faults');
    expect(body.faults.map(({ id }: { id: number }) => id)).toEqual([2, 3]);
    await request(url).delete('/faults/api/faults').expect(204);
    opened(await create(url, await payment()));
  });

  test.each([
    ['an unknown kind', { kind: 'explode' }, 400, 'invalid_request'],
    ['a list', [], 400, 'invalid_request'],
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

  test('refuses a Host that is not this machine', async () => {
    const { url } = await start();
    for (const path of ['/faults/api/kinds', '/faults/api/faults']) {
      await request(url).get(path).set('host', 'stranger.example').expect(403);
    }
  });

  test('accepts pages of its own origin and programs only', async () => {
    const sequencer = await start();
    const { url } = sequencer;
    sequencer.injectFault({ kind: 'delay', ms: 1 });
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
