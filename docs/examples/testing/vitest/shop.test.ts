import { sameOriginHeaders, startSimulator, temporaryLedger, waitForIntent } from 'express-intents/testing';
import request from 'supertest';
import { afterAll, expect, test } from 'vitest';
import { createShop } from './app.js';

const simulator = await startSimulator();
const ledger = await temporaryLedger();
const { app, router } = await createShop(simulator.siteOptions({ ledger: { url: ledger.url } }));

afterAll(async () => {
  await router.close();
  await simulator.close();
  await ledger.remove();
});

test('a payment is settled', async () => {
  const browser = request.agent(app).set(sameOriginHeaders);
  const { body } = await browser.post('/intent').send({ mode: 'payment', order: 'tea' }).expect(201);
  const { id, amount } = await simulator.wallet('Ada').pay(body.client_secret);
  expect(amount).toBe('4.50');

  const payment = await waitForIntent(router, id, 'settled');
  expect(payment).toMatchObject({ metadata: { item: 'tea' } });
});

test('a login starts a session', async () => {
  const browser = request.agent(app).set(sameOriginHeaders);
  const { body } = await browser.post('/intent').send({ mode: 'login' }).expect(201);
  const { id, userId } = await simulator.wallet('Ada').login(body.client_secret);

  await browser
    .post('/session')
    .send({ id })
    .expect(200, { user: { id: userId } });
  await browser.get('/account').expect(200, `Hello ${userId}`);
});
