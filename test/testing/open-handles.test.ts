import { createHook } from 'node:async_hooks';
import express from 'express';
import request from 'supertest';
import { intentRouter } from '../../src/index.js';
import { sameOriginHeaders, startSimulator } from '../../src/testing.js';

// A synchronous call of node:crypto can create such a request, which ends only when it is garbage-collected.
const openRequests = new Map<number, string>();
/** `jest --detectOpenHandles` ignores these. */
const ignored = ['RANDOMBYTESREQUEST', 'SIGNREQUEST'];
const hook = createHook({
  init(id, type) {
    if (type.endsWith('REQUEST') && !ignored.includes(type)) openRequests.set(id, type);
  },
  before: (id) => void openRequests.delete(id),
});
beforeAll(() => void hook.enable());
afterAll(() => void hook.disable());

test('a site with a sequencer leaves no request of node:crypto for jest --detectOpenHandles to report', async () => {
  const simulator = await startSimulator();
  const options = simulator.siteOptions({ secret: 's'.repeat(32) });
  const router = intentRouter({ ...options, payment: () => ({ amount: '4.50', currency: 'usd' }) });
  const browser = request.agent(express().use(router)).set(sameOriginHeaders);
  const payment = await browser.post('/intent').send({ mode: 'payment' }).expect(201);
  await simulator.wallet('Ada').pay(payment.body.client_secret);
  const login = await browser.post('/intent').send({ mode: 'login' }).expect(201);
  const { id } = await simulator.wallet('Ada').login(login.body.client_secret);
  await browser.post('/session').send({ id }).expect(200);
  await simulator.signWebhook(id, { invalid: 'forged' });
  await router.close();
  await simulator.close();
  expect([...openRequests.values()]).toEqual([]);
});
