const express = require('express');
const { intentRouter } = require('express-intents');
const { sameOriginHeaders, startSequencer, temporaryLedger, waitForIntent } = require('express-intents/testing');
const request = require('supertest');

let sequencer, ledger, router, browser;

beforeAll(async () => {
  sequencer = await startSequencer();
  ledger = await temporaryLedger();
  const payment = () => ({ amount: '4.50', currency: 'usd' });
  router = intentRouter({ ...sequencer.siteOptions(), databaseUrl: ledger.url, payment });
  browser = request.agent(express().use(router)).set(sameOriginHeaders);
  await router.ready();
});

afterAll(async () => {
  await router.close();
  await sequencer.close();
  await ledger.remove();
});

test('a payment is settled', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'payment' }).expect(201);
  const { id } = await sequencer.wallet('Ada').pay(body.client_secret);
  await waitForIntent(router, id, 'settled');
});

test('a login starts a session', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'login' }).expect(201);
  const { id, userId } = await sequencer.wallet('Ada').login(body.client_secret);
  await browser
    .post('/session')
    .send({ id })
    .expect(200, { user: { id: userId } });
});
