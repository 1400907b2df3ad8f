const express = require('express');
const { intentRouter } = require('express-intents');
const { sameOriginHeaders, startSequencer } = require('express-intents/testing');
const request = require('supertest');

let sequencer, router, browser;

beforeAll(async () => {
  sequencer = await startSequencer();
  router = intentRouter({ ...sequencer.siteOptions(), payment: () => ({ amount: '4.50', currency: 'usd' }) });
  browser = request.agent(express().use(router)).set(sameOriginHeaders);
});

afterAll(async () => {
  await router.close();
  await sequencer.close();
});

test('a payment is submitted, without a ledger', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'payment' }).expect(201);
  const { id } = await sequencer.wallet('Ada').pay(body.client_secret);
  await browser.get(`/status/${id}`).expect(200, { exists: true, code_scanned: true, intent_submitted: true });
});

test('a login starts a session', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'login' }).expect(201);
  const { id, userId } = await sequencer.wallet('Ada').login(body.client_secret);
  await browser
    .post('/session')
    .send({ id })
    .expect(200, { user: { id: userId } });
});
