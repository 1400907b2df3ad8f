import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sameOriginHeaders, startSimulator, temporaryLedger, waitForIntent } from 'express-intents/testing';
import request from 'supertest';
import { createShop } from './app.js';

const simulator = await startSimulator();
const ledger = await temporaryLedger();
const { app, router } = await createShop(simulator.siteOptions({ ledger: { url: ledger.url } }));

after(async () => {
  await router.close();
  await simulator.close();
  await ledger.remove();
});

test('a payment is settled', async () => {
  const browser = request.agent(app).set(sameOriginHeaders);
  const { body } = await browser.post('/intent').send({ mode: 'payment', order: 'tea' }).expect(201);
  const { id, amount } = await simulator.wallet('Ada').pay(body.client_secret);
  assert.equal(amount, '4.50');

  const payment = await waitForIntent(router, id, 'settled');
  assert.deepEqual(payment.metadata, { item: 'tea' });
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
